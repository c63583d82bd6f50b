import { z } from 'zod';
import { allButPage } from '../diagnose/rule.js';
import { categories, evidenceSources, retryAxes, type Category } from '../model/diagnosis.js';
import { verifyLevels } from '../model/settings.js';
import {
  durationExamples,
  explainDurationMistake,
  durationPattern,
  MAX_DURATION_MS,
  parseDuration,
} from './duration.js';
import { tryOr } from '../result.js';

// The only definition of agents.yaml: the loader validates with it, and the build generates schema/agents.schema.json from it. Each message
// completes a sentence that begins with the key's name. It never repeats the value, which may be a secret from ${VAR} (EV-9).

const text = z.string('must be a string; put it in quotes').regex(/\S/, 'must not be empty');

const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'may contain only letters, digits, ".", "_" and "-", and must begin with a letter or digit',
  );

/** Makes a setting optional; editors see the default. */
function withDefault<T extends z.ZodType>(value: z.input<T>, field: T, description: string) {
  return field.prefault(value).describe(`${description} Default: ${String(value)}.`);
}

function createCountSetting(defaultValue: number, description: string, minimum: 0 | 1 = 0) {
  const field = z.int({ error: ({ input }) => `must be a whole number${describeTextInput(input)}` });
  return withDefault(defaultValue, field.min(minimum, explainTooSmall(minimum)), description);
}

function createAmountSetting(defaultValue: number, description: string, minimum: 0 | 1 = 0) {
  const field = z.number({ error: ({ input }) => `must be a number${describeTextInput(input)}` });
  return withDefault(defaultValue, field.min(minimum, explainTooSmall(minimum)), description);
}

function explainTooSmall(minimum: 0 | 1): string {
  return minimum === 0 ? 'must not be negative' : 'must be at least 1';
}

function describeTextInput(input: unknown): string {
  return typeof input === 'string' ? ', not text' : '';
}

function createDurationSetting(defaultValue: string, description: string, allowsZero = false) {
  const field = z
    .string({ error: ({ input }) => explainDurationMistake(input) })
    .regex(durationPattern, { error: ({ input }) => explainDurationMistake(input), abort: true })
    .meta({ examples: [...durationExamples] })
    .transform((value) => parseDuration(value) ?? 0)
    .refine((ms) => ms > 0 || allowsZero, 'must be more than zero')
    .refine((ms) => ms <= MAX_DURATION_MS, 'must be at most 24 days (576h)');
  return withDefault(defaultValue, field, description);
}

const createChoice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

/** An optional mapping of optional settings. */
function createSection<T extends z.ZodRawShape>(description: string, shape: T) {
  return z
    .strictObject(shape)
    .prefault({} as never)
    .describe(description);
}

/** The source of a JavaScript regular expression. */
const pattern = text
  .refine(
    (source) => tryOr(false, () => !!new RegExp(source, 'm')),
    'is not a valid regular expression; put it in single quotes to keep each \\',
  )
  .meta({ examples: ['upstream connect error', '^\\[billing\\] .* failed$'] });

const placeholders: readonly unknown[] = ['slashCommand', 'contextFile', 'promptFile', 'screenshot'];
const placeholdersInText = placeholders.map((placeholder) => `{${String(placeholder)}}`).join(' ');

/** One word of a command line, which may contain placeholders. `${NAME}` is not one of them: a shell may replace it. */
const argument = z
  .string('must be a string; put it in quotes')
  .refine(
    (value) =>
      [...value.matchAll(/(?<!\$)\{([A-Za-z]+)\}/g)].every(([, word]) => placeholders.includes(word)),
    `contains an unknown placeholder; the known ones are ${placeholdersInText}`,
  );

const runner = z.strictObject({
  command: z
    .array(argument, 'must be a list of strings, such as [node, tools/fixer.mjs]; it runs without a shell')
    .min(1, 'must name a program, such as [node, tools/fixer.mjs]')
    .refine((argv) => argv.length === 0 || /\S/.test(argv[0] ?? ''), 'must begin with the name of a program')
    .optional()
    .meta({
      description: `The program and its arguments, run without a shell. These placeholders are replaced: ${placeholdersInText}.`,
      examples: [['node', 'tools/fixer.mjs', '{slashCommand}']],
    }),
  acp: z
    .array(text, 'must be a list of strings, such as [cursor-agent, acp]')
    .min(1, 'must name a program, such as [cursor-agent, acp]')
    .optional()
    .meta({
      description:
        'The command of a program that speaks the Agent Client Protocol, run without a shell. The program may edit its copy of the project and run the commands in `allow`.',
      examples: [['cursor-agent', 'acp']],
    }),
  allow: z
    .array(text, 'must be a list of commands, such as [npx playwright test]')
    .optional()
    .meta({
      description: 'Commands that an `acp` program may run, each with any further arguments. Default: none.',
      examples: [['npx playwright test']],
    }),
  prompt: withDefault(
    'stdin',
    createChoice(['stdin', 'argument', 'none']),
    'How the program gets the prompt: on its standard input, as its last argument, or not at all.',
  ),
  args: z
    .array(text, 'must be a list of strings, such as [--model, sonnet]')
    .optional()
    .meta({
      description: 'Additional arguments for a known program, such as a model.',
      examples: [['--allowedTools', 'Bash(npx playwright test *)']],
    }),
  env: z
    .array(text, 'must be a list of names, such as [MY_PROXY, AWS_*]')
    .optional()
    .meta({
      description:
        'Environment variables that a known or `acp` program gets in addition to those it needs. A name that ends in * matches every name with that prefix.',
      examples: [['AWS_PROFILE']],
    }),
});

const agent = z.strictObject({
  slashCommand: z
    .string('must be a string; put it in quotes')
    .regex(/^\/\S[^\r\n]*$/, 'must begin with "/", such as /debugger')
    .optional()
    .meta({
      description: "The slash command to run. Default: / and the agent's name.",
      examples: ['/debugger'],
    }),
  runner: text.optional().describe('The program that runs the agent. Default: the top-level `runner`.'),
  timeout: createDurationSetting('5m', 'How long the agent may run.'),
});

/** The agents that exist without agents.yaml. The slash command of each is `/` and its name (CS-1 to CS-6). */
export const defaultAgents = ['build-doctor', 'database', 'debugger', 'code-review', 'review-fix'] as const;

/** Runs agents without a configured runner. */
export const defaultRunner = 'claude';

/** Each class's default agent (CS-1 to CS-6) and description. */
const classDefaults: Record<Category, readonly [agent: (typeof defaultAgents)[number], description: string]> =
  {
    'build-error': ['build-doctor', 'Compiler, bundler or syntax error, module not found.'],
    'database-error': ['database', 'Row-level security, missing relation or column, constraint, migration.'],
    'runtime-error': ['debugger', 'Exception in the application, unhandled rejection, hydration error.'],
    'ui-error': ['code-review', 'A locator that matches nothing or too much, or an unexpected text.'],
    'network-error': ['debugger', 'A 5xx response, refused connection, CORS error.'],
    unknown: ['debugger', 'No rule matches.'],
    flaky: ['debugger', 'Red and green on the same code; healed by `self-heal flaky`.'],
  };

function createRoute(category: Category) {
  const [defaultAgent, description] = classDefaults[category];
  return z
    .array(text, 'must be a list of agents, such as [debugger]')
    .prefault([defaultAgent])
    .describe(`${description} Agents are tried in this order; an empty list starts none.`);
}

const routes = Object.fromEntries(categories.map((category) => [category, createRoute(category)])) as Record<
  Category,
  ReturnType<typeof createRoute>
>;

const rule = z.strictObject({
  id: name.describe('A unique id; diagnoses show it as project/<id>.'),
  class: createChoice(categories).describe(
    'The class of matching failures, whatever the built-in rules say.',
  ),
  pattern: pattern.describe(
    'A regular expression, matched against the text of each source, line by line with ^ and $.',
  ),
  sources: z
    .array(createChoice(evidenceSources), 'must be a list, such as [console, server]')
    .min(1, 'must name a source, such as console')
    .prefault([...allButPage])
    .describe('The sources to search. Default: error, stack, console, network and server.'),
  retry: createChoice(retryAxes)
    .optional()
    .describe(
      'What a fix needs: code_error, env_error or never_retry. Default: as the built-in rules decide.',
    ),
});

const quarantined = z.strictObject({
  test: text.meta({
    description: 'The file and titles of the test, as Playwright prints them, without line and project.',
    examples: ['cart.spec.ts › cart › checks out'],
  }),
  until: z.iso.date('must be a day, such as 2027-01-31').describe('The last day of the quarantine.'),
});

/** Every key is optional and has a default (CF-1). */
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
      'The program for agents that do not name one. With built-in, no program runs, and only the built-in fixer heals. Default: claude, or built-in if claude is not installed.',
    default: defaultRunner,
  }),
  fixer: withDefault(
    'built-in',
    createChoice(['built-in', 'none']),
    'What tries to fix a failure before an agent does, at no cost: built-in (makes only fixes it is sure of) or none.',
  ),
  runners: z
    .record(name, runner)
    .prefault({})
    .describe(
      'Programs that run slash commands, by name. For known ones (claude, codex, gemini, opencode, copilot, cursor, goose and others), additional settings.',
    ),
  agents: z
    .record(name, agent)
    .prefault({})
    .describe(
      'Agents by name, in addition to the built-in build-doctor, database, debugger, code-review and review-fix.',
    ),
  routes: createSection('The agents for each class of failure.', routes),
  classify: createSection('Your own classification rules, and built-in rules to switch off.', {
    rules: z
      .array(rule, 'must be a list of rules')
      .prefault([])
      .describe('Your own rules. A matching one overrides the built-in rules.'),
    ignore: z
      .array(pattern, 'must be a list of regular expressions')
      .prefault([])
      .describe('Lines of console, network and server output to ignore.'),
    off: z
      .array(text, 'must be a list of rules, such as [network/own-request-4xx]')
      .prefault([])
      .describe('The ids of built-in rules to switch off, as diagnoses show them.'),
  }),
  retries: createSection('How often, and after which pauses, to try again if a failure comes back.', {
    max: createCountSetting(3, 'How often agents may work on a cause.'),
    backoff: createSection('The pauses after fixes that did not hold.', {
      initial: createDurationSetting('5s', 'The first pause.', true),
      factor: createAmountSetting(2, 'How many times longer each pause is than the previous one.', 1),
      max: createDurationSetting('60s', 'The longest pause.', true),
    }),
  }),
  limits: createSection('The limits of a run.', {
    escalations: createCountSetting(5, 'Escalations in a run before healing pauses.'),
    agentRuns: createCountSetting(20, 'Agents started in a run.'),
    agentRunsPerTest: createCountSetting(6, 'Agents started in a run per test.'),
    costUsd: createAmountSetting(10, 'US dollars spent in a run, as reported by the agent programs.'),
    time: createDurationSetting('60m', 'After this time a run starts no further agents.'),
    parallel: createCountSetting(
      1,
      'Agents that work at the same time, each in its own copy of the project.',
      1,
    ),
    perDay: createSection('The limits of all runs that share the store, in 24 hours.', {
      agentRuns: createCountSetting(200, 'Agents started in 24 hours.'),
      costUsd: createAmountSetting(100, 'US dollars spent in 24 hours, as reported by the agent programs.'),
    }),
    perBranch: createCountSetting(3, 'Fixes that comments may apply to a pull request (self-heal publish).'),
  }),
  quarantine: z
    .array(quarantined, 'must be a list of tests')
    .prefault([])
    .describe(
      'Tests whose failures are reported but neither fail the run nor start an agent, each until a given day. `/self-heal skip 30d` on a pull request adds a test.',
    ),
  memory: createSection('What to keep for later runs.', {
    fixes: withDefault(
      true,
      z.boolean('must be true or false'),
      'Whether to keep a proven fix in the store and try it first when the failure comes back.',
    ),
  }),
  evidence: createSection('How much evidence an agent gets.', {
    console: createCountSetting(50, 'How many of the last console entries an agent gets.'),
    network: createCountSetting(50, 'How many requests an agent gets.'),
  }),
  verify: createSection('How to check fixes.', {
    level: withDefault(
      'full',
      createChoice(verifyLevels),
      'How thoroughly to prove a fix: full (repeat, flips and regression as below), clean (also in a copy with only the files in git, as in CI), quick (one run with the fix, then the regression run).',
    ),
    intent: withDefault(
      'ask',
      createChoice(['ask', 'tests']),
      'Who decides when a test contradicts a change to the app: ask (a person), tests (the tests are the specification, so a fix may revert the change; the report names it).',
    ),
    review: withDefault(
      'always',
      createChoice(['always', 'off']),
      'Whether the agent review-fix reviews each fix to the app that an agent made, during the proof: always, off. A reviewer finds more if its runner is not the one that made the fix. A fix by a `command` runner is reviewed only if agents.yaml names a runner for review-fix.',
    ),
    prepare: text.optional().meta({
      description: 'A shell command to run before each re-run, for suites that test a build. Default: none.',
      examples: ['npm run build'],
    }),
    confirm: createCountSetting(
      1,
      'How often to re-run a failed test without changes before an agent starts.',
    ),
    repeat: createCountSetting(3, 'How often a fixed test must pass, including its first re-run.', 1),
    flips: createCountSetting(
      1,
      'How often to revert a fix (the test must fail) and apply it again (the test must pass).',
    ),
    regression: withDefault('suite', createChoice(['suite', 'none']), 'Which tests run again after healing.'),
    regressionTime: createDurationSetting(
      '10m',
      'How long the tests that run again may take; those near the change run first.',
    ),
  }),
  blame: createSection(
    'The search for the change that broke a test; it runs the test with changes reverted.',
    {
      enabled: withDefault(
        true,
        z.boolean('must be true or false'),
        'Whether a run searches for the change that broke a test before it starts its first agent.',
      ),
      time: createDurationSetting(
        '2m',
        'How long a run may search for the changes that broke its tests, in total.',
      ),
    },
  ),
  flaky: createSection('The search for what makes a test flaky, and the proof of its fix.', {
    runs: createCountSetting(200, 'The maximum number of runs of one test under one condition.', 1),
    time: createDurationSetting('10m', 'How long measuring and searching may take; healing comes after it.'),
  }),
  store: withDefault(
    '.self-heal/ledger.db',
    text
      .refine(
        // Any other URL would be treated as the name of a file.
        (location) => !/^[a-z][a-z\d+.-]*:\/\//i.test(location) || /^postgres(?:ql)?:/i.test(location),
        'must be a file or a postgres:// URL',
      )
      .meta({ examples: ['.self-heal/ledger.db', '${SELF_HEAL_STORE}'] }),
    'Where to keep retry counts, attempts and escalations: a file, relative to the project, or a postgres:// URL.',
  ),
});

/** A valid agents.yaml as it is written. */
export type AgentsFile = z.input<typeof agentsFileSchema>;

/** An agents.yaml with all defaults filled in; durations are in milliseconds. */
export type FilledAgentsFile = z.output<typeof agentsFileSchema>;

/** The keys of a JSON Schema that `listAllowedKeys` reads. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly default?: unknown;
}

let cachedSchema: JsonSchema | undefined;

/** Returns the JSON Schema (draft-07) with which editors complete and check agents.yaml (CF-2). */
export function createAgentsJsonSchema(): JsonSchema {
  if (cachedSchema) return cachedSchema;
  const { $schema, ...schema } = z.toJSONSchema(agentsFileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // Zod adds this bound to whole numbers; an editor would show it.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // The properties of an object have their own defaults.
      if (jsonSchema.type === 'object') delete jsonSchema.default;
    },
  });
  cachedSchema = { $schema, title: 'agents.yaml for self-heal', ...schema } as JsonSchema;
  return cachedSchema;
}

/** Returns the keys allowed in the mapping at a path; empty if it allows any name. */
export function listAllowedKeys(path: readonly PropertyKey[]): readonly string[] {
  const schema = path.reduce<JsonSchema | undefined>((above, step) => {
    const anyKeySchema = above?.additionalProperties;
    return above?.properties?.[String(step)] ?? (typeof anyKeySchema === 'object' ? anyKeySchema : undefined);
  }, createAgentsJsonSchema());
  return Object.keys(schema?.properties ?? {});
}
