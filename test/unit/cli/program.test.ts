import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.js';

/** A command and all below it, with the text of its --help on a terminal of 80 columns. */
function helpOf(command: Command, name = command.name()): [string, string][] {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return [[name, text], ...command.commands.flatMap((one) => helpOf(one, `${name} ${one.name()}`))];
}

it.each(helpOf(await createProgram([])))('CL-5 CL-6 --help fits on 80 columns: %s', (_, text) => {
  expect(text).toContain('Usage: ');
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
});
