import type { Rule } from './rule.js';
import { buildErrorRules } from './rules/build-error.js';
import { databaseErrorRules } from './rules/database-error.js';
import { firstLineRules } from './rules/first-line.js';
import { networkErrorRules } from './rules/network-error.js';
import { runtimeErrorRules } from './rules/runtime-error.js';
import { uiErrorRules } from './rules/ui-error.js';
import { unknownRules } from './rules/unknown.js';

/** Every rule that speaks for a class. */
export const rules: readonly Rule[] = [
  ...buildErrorRules,
  ...databaseErrorRules,
  ...runtimeErrorRules,
  ...networkErrorRules,
  ...uiErrorRules,
  ...unknownRules,
  ...firstLineRules,
];
