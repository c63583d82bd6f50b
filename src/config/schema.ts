import { z } from 'zod';
import { categories, evidenceSources, retryAxes } from '../core/diagnosis.js';
import { verifyLevels } from '../core/settings.js';
import { anywhere } from '../core/classify/rule.js';
import { agent, defaultRunner, routes, runner } from './agent-schema.js';
import {
  amount,
  byDefault,
  duration,
  name,
  oneOf,
  pattern,
  section,
  storePlace,
  text,
  wholeNumber,
} from './fields.js';

// The single definition of agents.yaml: the loader validates with it, and schema/agents.schema.json is generated from it.

const backoff = {
  initial: byDefault('5s', duration('zero or more'), 'The first wait.'),
  factor: byDefault(2, amount(1), 'The factor by which each wait is longer than the previous one.'),
  max: byDefault('60s', duration('zero or more'), 'The longest wait.'),
};

const retries = {
  max: byDefault(3, wholeNumber, 'Re-runs after an agent has worked, per cause.'),
  backoff: section(backoff, 'How long to wait after a fix that did not hold.'),
};

const limits = {
  escalations: byDefault(5, wholeNumber, 'Escalations in a run before healing pauses.'),
  agentRuns: byDefault(20, wholeNumber, 'Agents started in a run.'),
  agentRunsPerTest: byDefault(6, wholeNumber, 'Agents started in a run per test.'),
  costUsd: byDefault(10, amount(0), 'US dollars spent in a run, as reported by the agent programs.'),
  time: byDefault('60m', duration('more than zero'), 'After this time a run starts no further agents.'),
  parallel: byDefault(
    1,
    wholeNumber.min(1, 'must be at least 1'),
    'Agents that work at the same time, each in its own copy of the project.',
  ),
};

const evidence = {
  console: byDefault(50, wholeNumber, 'How many of the last console entries an agent is shown.'),
  network: byDefault(50, wholeNumber, 'How many requests an agent is shown.'),
};

const verify = {
  level: byDefault(
    'full',
    oneOf(verifyLevels),
    'How thoroughly a heal is proven: full (repeat, flips and regression as below), quick (only the regression run), none (no test is reported as healed).',
  ),
  prepare: text.optional().meta({
    description: 'A shell command to run before each re-run, for suites that test a build. Default: none.',
    examples: ['npm run build'],
  }),
  confirm: byDefault(
    1,
    wholeNumber,
    'How often a failed test is re-run without changes before an agent is started.',
  ),
  repeat: byDefault(
    3,
    wholeNumber.min(1, 'must be at least 1'),
    'How often a fixed test must pass, including its first re-run.',
  ),
  flips: byDefault(
    1,
    wholeNumber,
    'How often a fix is reverted (the test must fail) and applied again (the test must pass).',
  ),
  regression: byDefault(
    'suite',
    oneOf(['suite', 'none']),
    'Which tests run again after healing, to check that nothing else broke.',
  ),
  regressionTime: byDefault(
    '10m',
    duration('more than zero'),
    'How long the regression run may take; the tests near the change run first.',
  ),
};

const blame = {
  enabled: byDefault(
    true,
    z.boolean('must be true or false'),
    'Whether a run searches for the change that broke a test before it starts an agent.',
  ),
  time: byDefault('2m', duration('more than zero'), 'How long all searches of a run may take together.'),
};

const rule = z.strictObject({
  id: name.describe('A unique id, which a diagnosis shows as project/<id>.'),
  class: oneOf(categories).describe('The class of matching failures, whatever the built-in rules say.'),
  pattern: pattern.describe(
    'A regular expression, matched against the text of each source, line by line with ^ and $.',
  ),
  sources: z
    .array(oneOf(evidenceSources), 'must be a list, such as [console, server]')
    .min(1, 'must name a source, such as console')
    .prefault([...anywhere])
    .describe('The sources to search. Default: error, stack, console, network and server.'),
  retry: oneOf(retryAxes)
    .optional()
    .describe(
      'What a fix needs: code_error, env_error or never_retry. Default: what the built-in rules say.',
    ),
});

const classify = {
  rules: z
    .array(rule, 'must be a list of rules')
    .prefault([])
    .describe('Your own rules; one that matches overrides the built-in ones.'),
  ignore: z
    .array(pattern, 'must be a list of regular expressions')
    .prefault([])
    .describe('Lines of console, network and server output to ignore.'),
  off: z
    .array(text, 'must be a list of rules, such as [network/own-request-4xx]')
    .prefault([])
    .describe('The ids of built-in rules to switch off, as a diagnosis shows them.'),
};

/** agents.yaml. Every key is optional and has a default (CF-1). */
export const agentsFileSchema = z.strictObject({
  version: z
    .literal(1, 'must be 1, the only version of this file so far')
    .optional()
    .describe('The version of this file: 1.'),
  project: text
    .optional()
    .describe("The project's name in signatures and reports. Default: the name in package.json."),
  runner: text.optional().meta({
    description:
      'The program for agents that do not name one; built-in for no program, so that only the built-in fixer heals. Default: claude, or built-in if that is not installed.',
    default: defaultRunner,
  }),
  fixer: byDefault(
    'built-in',
    oneOf(['built-in', 'none']),
    'What runs before the agents, at no cost: the built-in fixer, which makes only fixes it is sure of, or none.',
  ),
  runners: z
    .record(name, runner)
    .prefault({})
    .describe(
      'Programs that run slash commands, by name, and what the built-in ones (claude, codex, gemini, opencode, copilot) get in addition.',
    ),
  agents: z
    .record(name, agent)
    .prefault({})
    .describe(
      'Agents by name, in addition to the built-in build-doctor, database, debugger and code-review.',
    ),
  routes: section(routes, 'The agents for each class of failure.'),
  classify: section(classify, 'Your own classification rules, and built-in rules to switch off.'),
  retries: section(
    retries,
    'How often a failure that comes back is retried, and how long to wait before each retry.',
  ),
  limits: section(limits, 'What a run may spend.'),
  evidence: section(evidence, 'How much evidence an agent is shown.'),
  verify: section(verify, 'How fixes are checked.'),
  blame: section(
    blame,
    'The search for the change that broke a test, by running it with changes reverted; it costs no tokens.',
  ),
  store: byDefault(
    '.self-heal/ledger.db',
    storePlace.meta({ examples: ['.self-heal/ledger.db', '${SELF_HEAL_STORE}'] }),
    'Where retry counts, attempts and escalations are kept: a file, relative to the project, or a postgres:// URL.',
  ),
});

/** A valid agents.yaml as it is written. */
export type AgentsFile = z.input<typeof agentsFileSchema>;

/** An agents.yaml with all defaults filled in; durations are in milliseconds. */
export type FilledAgentsFile = z.output<typeof agentsFileSchema>;
