import { z } from 'zod';
import { categories, evidenceSources, retryAxes } from '../core/diagnosis.js';
import { verifyLevels } from '../core/settings.js';
import { agent, routeShape, runner } from './agent-schema.js';
import { amount, duration, name, pattern, text, wholeNumber } from './fields.js';

// The single definition of agents.yaml: the loader validates with it, and schema/agents.schema.json is generated from it.

const backoff = z.strictObject({
  initial: duration('zero or more').optional().describe('The first wait. Default: 5s.'),
  factor: amount(1)
    .optional()
    .describe('The factor by which each wait is longer than the previous one. Default: 2.'),
  max: duration('zero or more').optional().describe('The longest wait. Default: 60s.'),
});

const retries = z.strictObject({
  max: wholeNumber.optional().describe('Re-runs after an agent has worked, per cause. Default: 3.'),
  backoff: backoff.optional().describe('How long to wait after a fix that did not hold.'),
});

const limits = z.strictObject({
  escalations: wholeNumber.optional().describe('Escalations in a run before healing pauses. Default: 5.'),
  agentRuns: wholeNumber.optional().describe('Agents started in a run. Default: 20.'),
  agentRunsPerTest: wholeNumber.optional().describe('Agents started in a run per test. Default: 6.'),
  costUsd: amount(0)
    .optional()
    .describe('US dollars spent in a run, as reported by the agent programs. Default: 10.'),
  time: duration('more than zero')
    .optional()
    .describe('After this time a run starts no further agents. Default: 60m.'),
  parallel: wholeNumber
    .min(1, 'must be at least 1')
    .optional()
    .describe('Agents that work at the same time, each in its own copy of the project. Default: 1.'),
});

const evidence = z.strictObject({
  console: wholeNumber
    .optional()
    .describe('How many of the last console entries an agent is shown. Default: 50.'),
  network: wholeNumber.optional().describe('How many requests an agent is shown. Default: 50.'),
});

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

const verify = z.strictObject({
  level: oneOf(verifyLevels)
    .optional()
    .describe(
      'How thoroughly a heal is proven: full (repeat, flips and regression as below), quick (only the regression run), none (no test is reported as healed). Default: full.',
    ),
  prepare: text.optional().meta({
    description: 'A shell command to run before each re-run, for suites that test a build. Default: none.',
    examples: ['npm run build'],
  }),
  confirm: wholeNumber
    .optional()
    .describe('How often a failed test is re-run without changes before an agent is started. Default: 1.'),
  repeat: wholeNumber
    .min(1, 'must be at least 1')
    .optional()
    .describe('How often a fixed test must pass, including its first re-run. Default: 3.'),
  flips: wholeNumber
    .optional()
    .describe(
      'How often a fix is reverted (the test must fail) and applied again (the test must pass). Default: 1.',
    ),
  regression: oneOf(['suite', 'none'])
    .optional()
    .describe('Which tests run again after healing, to check that nothing else broke. Default: suite.'),
  regressionTime: duration('more than zero')
    .optional()
    .describe('How long the regression run may take; the tests near the change run first. Default: 10m.'),
});

const blame = z.strictObject({
  enabled: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'Whether a run searches for the change that broke a test before it starts an agent. Default: true.',
    ),
  runs: wholeNumber.optional().describe('How many Playwright runs one search may take. Default: 12.'),
  time: duration('more than zero')
    .optional()
    .describe('How long all searches of a run may take together. Default: 2m.'),
});

const queue = z.strictObject({
  lease: duration('more than zero')
    .optional()
    .describe(
      'How long a worker on another machine may go without a heartbeat before its cause goes to another worker. Default: 30s.',
    ),
});

const rule = z.strictObject({
  id: name.describe('A unique id, which a diagnosis shows as project/<id>.'),
  class: oneOf(categories).describe('The class of matching failures, whatever the built-in rules say.'),
  pattern: pattern.describe(
    'A regular expression, matched against the text of each source, line by line with ^ and $.',
  ),
  sources: z
    .array(oneOf(evidenceSources), 'must be a list, such as [console, server]')
    .min(1, 'must name a source, such as console')
    .optional()
    .describe('The sources to search. Default: error, stack, console, network and server.'),
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
    .describe('Your own rules; one that matches overrides the built-in ones.'),
  ignore: z
    .array(pattern, 'must be a list of regular expressions')
    .optional()
    .describe('Lines of console, network and server output to ignore.'),
  off: z
    .array(text, 'must be a list of rules, such as [network/own-request-4xx]')
    .optional()
    .describe('The ids of built-in rules to switch off, as a diagnosis shows them.'),
});

/** agents.yaml. Every key is optional and has a default (CF-1). */
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
      'The program for agents that do not name one; built-in for no program, so that only the built-in fixer heals. Default: claude, or built-in if that is not installed.',
    ),
  fixer: oneOf(['built-in', 'none'])
    .optional()
    .describe(
      'What runs before the agents, at no cost: the built-in fixer, which makes only fixes it is sure of, or none. Default: built-in.',
    ),
  runners: z
    .record(name, runner)
    .optional()
    .describe(
      'Programs that run slash commands, by name, and what the built-in ones (claude, codex, gemini, opencode, copilot) get in addition.',
    ),
  agents: z
    .record(name, agent)
    .optional()
    .describe(
      'Agents by name, in addition to the built-in build-doctor, database, debugger and code-review.',
    ),
  routes: z.strictObject(routeShape).optional().describe('The agents for each class of failure.'),
  classify: classify.optional().describe('Your own classification rules, and built-in rules to switch off.'),
  retries: retries
    .optional()
    .describe('How often a failure that comes back is retried, and how long to wait before each retry.'),
  limits: limits.optional().describe('What a run may spend.'),
  evidence: evidence.optional().describe('How much evidence an agent is shown.'),
  verify: verify.optional().describe('How fixes are checked.'),
  blame: blame
    .optional()
    .describe(
      'The search for the change that broke a test, by running it with changes reverted; it costs no tokens.',
    ),
  store: text.optional().meta({
    description:
      'Where retry counts, attempts and escalations are kept: a file, relative to the project, or a postgres:// URL. Default: .self-heal/ledger.db.',
    examples: ['.self-heal/ledger.db', '${SELF_HEAL_STORE}'],
  }),
  queue: queue.optional().describe('Workers on several machines, which need a PostgreSQL store.'),
});

/** A valid agents.yaml, without defaults; durations are in milliseconds. */
export type AgentsFile = z.output<typeof agentsFileSchema>;
