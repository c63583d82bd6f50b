import { frameworkRules } from './runtime/frameworks.js';
import { javascriptRules } from './runtime/javascript.js';
import { exceptionRules } from './runtime/structure.js';

/** Code of the page, of the server or of the test threw while it ran (CS-3). */
export const runtimeErrorRules = [...javascriptRules, ...frameworkRules, ...exceptionRules];
