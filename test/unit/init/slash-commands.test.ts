import { expect, it } from 'vitest';
import { answersIn } from '../../../src/agents/claim.js';
import { programs } from '../../../src/agents/programs.js';
import { commandFileText } from '../../../src/init/plan-init.js';
import { slashCommands } from '../../../src/init/slash-commands.js';

const every = Object.values(programs).flatMap((program) =>
  slashCommands.map((command) => ({
    about: `${program.name} /${command.name}`,
    text: commandFileText(command, program.commandFormat),
    placeholder: program.commandFormat === 'toml' ? '{{args}}' : '$ARGUMENTS',
    format: program.commandFormat,
  })),
);

it.each(every)(
  'CL-10 $about contains the failure once, and nothing else that its program would expand',
  ({ text, placeholder }) => {
    expect(text.split(placeholder)).toHaveLength(2);
    const rest = text.replace(placeholder, '');
    expect(rest).not.toMatch(/@|!`|!\{|\{\{|\$\d|\$ARGUMENTS|^!/m);
  },
);

it.each(every)('AG-3 an agent that repeats $about claims nothing', ({ text }) => {
  expect(text).toMatch(/SELF-HEAL: \{"(?:status|verdict)"/);
  expect(answersIn(text)).toEqual({ claim: null });
});

it.each(every.filter(({ format }) => format === 'toml'))('CL-10 $about is TOML with two keys', ({ text }) => {
  expect(text).toMatch(/^description = '[^'\n]+'\n\nprompt = '''\n(?:(?!''')[\s\S])*'''\n$/);
});

it.each(every.filter(({ format }) => format === 'claude' || format === 'markdown'))(
  'CL-10 $about begins with front matter',
  ({ text }) => {
    expect(text).toMatch(/^---\ndescription: [A-Z][^:\n#]+\n(?:allowed-tools: .+\n)?---\n\n/);
  },
);
