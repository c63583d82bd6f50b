import { z } from 'zod';
import { categories, evidenceSources, retryAxes } from '../core/diagnosis.js';
import { verifyLevels } from '../core/settings.js';
import { agent, routeShape, runner } from './agent-schema.js';
import { amount, duration, name, pattern, text, wholeNumber } from './fields.js';

// The one source of what agents.yaml may hold: the loader checks with it, and schema/agents.schema.json is made of it.

const backoff = z.strictObject({
  initial: duration('zero or more').optional().describe('The first wait. Default: 5s.'),
  factor: amount(1).optional().describe('Each further wait is the one before times this. Default: 2.'),
  max: duration('zero or more').optional().describe('The longest wait. Default: 60s.'),
});

const retries = z.strictObject({
  max: wholeNumber.optional().describe("Re-runs after agents' work, for each cause. Default: 3."),
  backoff: backoff.optional().describe('The waits before the next try after a fix that did not hold.'),
});

const limits = z.strictObject({
  escalations: wholeNumber.optional().describe('Escalations in a run before healing pauses. Default: 5.'),
  agentRuns: wholeNumber.optional().describe('Agents started, in a run. Default: 20.'),
  agentRunsPerTest: wholeNumber.optional().describe('Agents started for any one test, in a run. Default: 6.'),
  costUsd: amount(0)
    .optional()
    .describe('US dollars, in a run, as the agent programs report them. Default: 10.'),
  time: duration('more than zero')
    .optional()
    .describe('After this time a run starts no further agents. Default: 60m.'),
  parallel: wholeNumber
    .min(1, 'must be at least 1')
    .optional()
    .describe('Agents that work at the same time, each in a copy of its own. Default: 1.'),
});

const evidence = z.strictObject({
  console: wholeNumber
    .optional()
    .describe('Console entries that an agent is shown, the last ones. Default: 50.'),
  network: wholeNumber.optional().describe('Requests that an agent is shown. Default: 50.'),
});

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

const verify = z.strictObject({
  level: oneOf(verifyLevels)
    .optional()
    .describe(
      'How much a heal is proven: full (repeat, flips and regression as below), quick (the regression run alone), none (nothing is called healed then). Default: full.',
    ),
  prepare: text.optional().meta({
    description:
      'A shell command to run before each re-run, where the tests test what a build made. Default: none.',
    examples: ['npm run build'],
  }),
  confirm: wholeNumber
    .optional()
    .describe('How often a red test is run again, unchanged, before an agent is started. Default: 1.'),
  repeat: wholeNumber
    .min(1, 'must be at least 1')
    .optional()
    .describe('How often a fix must be green, its first re-run included. Default: 3.'),
  flips: wholeNumber
    .optional()
    .describe('How often a fix is reverted, to be red, and applied again, to be green. Default: 1.'),
  regression: oneOf(['suite', 'none'])
    .optional()
    .describe('What runs again after healing, to see that nothing else broke. Default: suite.'),
  regressionTime: duration('more than zero')
    .optional()
    .describe(
      'The longest that the regression run may take; the tests near the change go first. Default: 10m.',
    ),
});

const blame = z.strictObject({
  enabled: z
    .boolean('must be true or false')
    .optional()
    .describe('Whether a run looks for the change that broke a test, before its first agent. Default: true.'),
  runs: wholeNumber.optional().describe('Playwright runs that one search may take. Default: 12.'),
  time: duration('more than zero')
    .optional()
    .describe('The longest that all searches of a run may take together. Default: 2m.'),
});

const queue = z.strictObject({
  lease: duration('more than zero')
    .optional()
    .describe(
      'How long a worker on another machine may give no sign before its cause goes to another one. Default: 30s.',
    ),
});

const rule = z.strictObject({
  id: name.describe('Unique; it is printed with the diagnosis as project/<id>.'),
  class: oneOf(categories).describe('The class that a match decides for, whatever the built-in rules say.'),
  pattern: pattern.describe(
    'A regular expression, tested against the text of each source, line by line with ^ and $.',
  ),
  sources: z
    .array(oneOf(evidenceSources), 'must be a list, such as [console, server]')
    .min(1, 'must name a source, such as console')
    .optional()
    .describe('Where it looks. Default: error, stack, console, network and server.'),
  retry: oneOf(retryAxes)
    .optional()
    .describe(
      'What a fix needs: code_error, env_error or never_retry. Default: what the built-in rules say.',
    ),
});

const classify = z.strictObject({
  rules: z
    .array(rule, 'must be a list of rules')
    .optional()
    .describe('Rules of the project; one that matches outranks the built-in ones.'),
  ignore: z
    .array(pattern, 'must be a list of regular expressions')
    .optional()
    .describe('Lines of console, network and server that decide nothing.'),
  off: z
    .array(text, 'must be a list of rules, such as [network/own-request-4xx]')
    .optional()
    .describe('Built-in rules that do not hold in this project, as a diagnosis names them.'),
});

/** agents.yaml: every key may be left out, and then has its default (CF-1). */
export const agentsFileSchema = z.strictObject({
  version: z
    .literal(1, 'must be 1, the only version of this file so far')
    .optional()
    .describe('The version of this file: 1.'),
  project: text
    .optional()
    .describe("The project's name in signatures and reports. Default: the name in package.json."),
  runner: text
    .optional()
    .describe(
      'The program that runs the agents which name none; built-in for no program, so that only the built-in fixer heals. Default: claude, or built-in where that is not installed.',
    ),
  fixer: oneOf(['built-in', 'none'])
    .optional()
    .describe(
      'What goes before the agents, at no cost, where it is sure of a fix: the built-in fixer, or nothing. Default: built-in.',
    ),
  runners: z
    .record(name, runner)
    .optional()
    .describe(
      'Programs that run slash commands, by name; and what the built-in ones (claude, codex, gemini, opencode, copilot) are given in addition.',
    ),
  agents: z
    .record(name, agent)
    .optional()
    .describe('Agents by name, beside the built-in build-doctor, database, debugger and code-review.'),
  routes: z.strictObject(routeShape).optional().describe('The agents for each class of failure.'),
  classify: classify
    .optional()
    .describe('What the project adds to the built-in rules of classification, and takes out of them.'),
  retries: retries
    .optional()
    .describe('How often, and after which waits, a failure that comes back is tried again.'),
  limits: limits.optional().describe('What a run may spend.'),
  evidence: evidence.optional().describe('How much an agent is shown.'),
  verify: verify.optional().describe('How fixes are checked.'),
  blame: blame
    .optional()
    .describe(
      'The search for the change that broke a test, by runs of it with changes taken out; it costs no token.',
    ),
  store: text.optional().meta({
    description:
      'Where retry counts, attempts and escalations are kept: a file, relative to the project, or a postgres:// URL. Default: .self-heal/ledger.db.',
    examples: ['.self-heal/ledger.db', '${SELF_HEAL_STORE}'],
  }),
  queue: queue.optional().describe('Workers on several machines, which a PostgreSQL store makes possible.'),
});

/** A valid agents.yaml: what it says and no more, durations in milliseconds. */
export type AgentsFile = z.output<typeof agentsFileSchema>;
