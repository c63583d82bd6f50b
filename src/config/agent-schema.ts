import { z } from 'zod';
import { categories, type Category } from '../core/diagnosis.js';
import { argument, byDefault, duration, oneOf, placeholdersInText, text } from './fields.js';

// The part of agents.yaml that says which agents fix what.

/** A program that runs slash commands. */
export const runner = z.strictObject({
  command: z
    .array(argument, 'must be a list of strings, such as [node, tools/fixer.mjs]; it runs without a shell')
    .min(1, 'must name a program, such as [node, tools/fixer.mjs]')
    .refine((argv) => argv.length === 0 || /\S/.test(argv[0] ?? ''), 'must begin with the name of a program')
    .optional()
    .meta({
      description: `The program and its arguments, run without a shell. These placeholders are replaced: ${placeholdersInText}.`,
      examples: [['node', 'tools/fixer.mjs', '{slashCommand}']],
    }),
  prompt: byDefault(
    'stdin',
    oneOf(['stdin', 'argument', 'none']),
    'How the program gets the prompt: on its standard input, as its last argument, or not at all.',
  ),
  args: z
    .array(text, 'must be a list of strings, such as [--model, sonnet]')
    .optional()
    .meta({
      description:
        'Additional arguments for a built-in runner, such as a model or a permission that it does not have by default.',
      examples: [['--allowedTools', 'Bash(npx playwright test *)']],
    }),
  env: z
    .array(text, 'must be a list of names, such as [MY_PROXY, AWS_*]')
    .optional()
    .meta({
      description:
        'Environment variables that a built-in runner gets in addition to those it needs. A name that ends in * matches every name with that prefix.',
      examples: [['AWS_PROFILE']],
    }),
});

/** An agent of agents.yaml. */
export const agent = z.strictObject({
  slashCommand: z
    .string('must be a string; put it in quotes')
    .regex(/^\/\S[^\r\n]*$/, 'must begin with "/", such as /debugger')
    .optional()
    .meta({
      description: "The slash command to run. Default: / and the agent's name.",
      examples: ['/debugger'],
    }),
  runner: text.optional().describe('The program that runs it. Default: the `runner` of the file.'),
  timeout: byDefault('5m', duration('more than zero'), 'How long it may run.'),
});

/** The agents that exist without a file. The slash command of each is `/` and its name (CS-1 to CS-6). */
export const defaultAgents = ['build-doctor', 'database', 'debugger', 'code-review'] as const;

/** The program for agents if neither they nor the file name one. */
export const defaultRunner = 'claude';

/** The agent of each class by default (CS-1 to CS-6), and what the class is. */
const classes: Record<Category, readonly [agent: (typeof defaultAgents)[number], text: string]> = {
  'build-error': ['build-doctor', 'Compiler, bundler or syntax error, module not found.'],
  'database-error': ['database', 'Row-level security, missing relation or column, constraint, migration.'],
  'runtime-error': ['debugger', 'Exception in the application, unhandled rejection, hydration error.'],
  'ui-error': ['code-review', 'A locator that matches nothing or too much, or an unexpected text.'],
  'network-error': ['debugger', 'A 5xx response, refused connection, CORS error.'],
  unknown: ['debugger', 'No rule matches.'],
};

function route(category: Category) {
  const [agent, what] = classes[category];
  return z
    .array(text, 'must be a list of agents, such as [debugger]')
    .prefault([agent])
    .describe(`${what} Agents are tried in this order; an empty list starts none.`);
}

/** The agents for each class of failure. */
export const routes = Object.fromEntries(categories.map((category) => [category, route(category)])) as Record<
  Category,
  ReturnType<typeof route>
>;
