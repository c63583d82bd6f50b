import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { commandNames, createProgram } from '../../../src/cli/program.js';

/** A command and all below it, with the text of its --help on a terminal of 80 columns. */
function helpOf(command: Command, name = command.name()): [string, string][] {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return [[name, text], ...command.commands.flatMap((one) => helpOf(one, `${name} ${one.name()}`))];
}

const whole = await createProgram(['--help']);
const each = commandNames.map(async (name) => {
  const { commands } = await createProgram([name]);
  return commands.filter((one) => one.name() === name);
});
const helps = [
  ...helpOf(whole).slice(0, 1),
  ...(await Promise.all(each)).flat().flatMap((one) => helpOf(one)),
];

it.each(helps)('CL-5 CL-6 --help fits on 80 columns: %s', (_, text) => {
  expect(text).toContain('Usage: ');
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

it('CL-6 --help names every command', () => {
  expect(whole.commands.map((one) => one.name())).toEqual(commandNames);
  expect(whole.commands.filter((one) => one.description() === '')).toEqual([]);
});
