import { z } from 'zod';
import { categories, type Category } from '../core/diagnosis.js';
import { argument, duration, placeholdersInText, text } from './fields.js';

// The part of agents.yaml that says which agents fix what.

/** How a runner receives the prompt. */
const promptWays = ['stdin', 'argument', 'none'] as const;

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
  prompt: z
    .enum(promptWays, `must be one of ${promptWays.join(', ')}`)
    .optional()
    .describe(
      'How the program gets the prompt: on its standard input (stdin, the default), as its last argument, or not at all.',
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
  timeout: duration('more than zero').optional().describe('How long it may run. Default: 5m.'),
});

const classText: Record<Category, string> = {
  'build-error': 'Compiler, bundler or syntax error, module not found.',
  'database-error': 'Row-level security, missing relation or column, constraint, migration.',
  'runtime-error': 'Exception in the application, unhandled rejection, hydration error.',
  'network-error': 'A 5xx response, refused connection, CORS error.',
  'ui-error': 'A locator that matches nothing or too much, or an unexpected text.',
  unknown: 'No rule matches.',
};

const route = z.array(text, 'must be a list of agents, such as [debugger]');

/** The agents for each class of failure. */
export const routeShape = Object.fromEntries(
  categories.map((category) => [
    category,
    route
      .optional()
      .describe(`${classText[category]} Agents are tried in this order; an empty list starts none.`),
  ]),
) as Record<Category, z.ZodOptional<typeof route>>;
