import { bundlerRules } from './build/bundlers.js';
import { moduleRules } from './build/modules.js';
import { structureRules } from './build/structure.js';
import { syntaxRules } from './build/syntax.js';
import { typescriptRules } from './build/typescript.js';

/** Something that should have been compiled, bundled, transformed or linked was not (CS-1). */
export const buildErrorRules = [
  ...typescriptRules,
  ...bundlerRules,
  ...moduleRules,
  ...syntaxRules,
  ...structureRules,
];
