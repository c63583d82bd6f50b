import type { Rule } from './rule.js';
import { buildRules } from './rules/build.js';
import { databaseRules } from './rules/database.js';
import { networkRules } from './rules/network.js';
import { runtimeRules } from './rules/runtime.js';
import { uiRules } from './rules/ui.js';
import { unknownRules } from './rules/unknown.js';

/** All rules that indicate a class. */
export const rules: readonly Rule[] = [
  ...buildRules,
  ...databaseRules,
  ...runtimeRules,
  ...networkRules,
  ...uiRules,
  ...unknownRules,
];
