import type { Rule } from './rule.js';
import { bundlerRules } from './rules/build/bundlers.js';
import { moduleRules } from './rules/build/modules.js';
import { structureRules } from './rules/build/structure.js';
import { syntaxRules } from './rules/build/syntax.js';
import { typescriptRules } from './rules/build/typescript.js';
import { indirectRules } from './rules/database/indirect.js';
import { mapperRules } from './rules/database/mappers.js';
import { otherEngineRules } from './rules/database/other-engines.js';
import { postgresRules } from './rules/database/postgres.js';
import { serviceRules } from './rules/database/services.js';
import { firstLineRules } from './rules/first-line.js';
import { clientRules } from './rules/network/clients.js';
import { httpRules } from './rules/network/http.js';
import { transportRules } from './rules/network/transport.js';
import { waitingRules } from './rules/network/waiting.js';
import { exceptionRules } from './rules/runtime/exceptions.js';
import { frameworkRules } from './rules/runtime/frameworks.js';
import { javascriptRules } from './rules/runtime/javascript.js';
import { otherRunnerRules } from './rules/ui/other-runners.js';
import { playwrightRules } from './rules/ui/playwright.js';
import { unknownRules } from './rules/unknown.js';

/** All rules that indicate a class. */
export const rules: readonly Rule[] = [
  // Something that should have been compiled, bundled, transformed or linked was not (CS-1).
  ...typescriptRules,
  ...bundlerRules,
  ...moduleRules,
  ...syntaxRules,
  ...structureRules,
  // A database, its driver, its mapper or its service reports an error (CS-2).
  ...postgresRules,
  ...otherEngineRules,
  ...mapperRules,
  ...serviceRules,
  ...indirectRules,
  // Code of the page, the server or the test threw while it ran (CS-3).
  ...javascriptRules,
  ...frameworkRules,
  ...exceptionRules,
  // A request failed, was answered with an error, or was not answered in time (CS-5).
  ...transportRules,
  ...httpRules,
  ...waitingRules,
  ...clientRules,
  // The page does not show, or does not allow, what the test expects (CS-4): a symptom, outranked by any deeper evidence.
  ...playwrightRules,
  ...otherRunnerRules,
  // Neither the app nor its tests failed, but the browser, the runner or the machine.
  ...unknownRules,
  // No rule recognizes the error: guesses from what its first line is about.
  ...firstLineRules,
];
