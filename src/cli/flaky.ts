import type { Command } from 'commander';
import { flaky } from '../commands.js';
import { runCommand } from '../command/run-command.js';
import type { RunOptions } from '../command/run-request.js';
import type { Problem } from '../problem.js';
import { formatPercent } from '../model/failure-rate.js';
import { withStore } from '../store/with-store.js';
import { createAction, print } from './end-command.js';
import { printText } from './print-text.js';
import { addHealingFlags, addVerifyFlag, addWaitFlag, addSuiteSelectionFlags } from './options.js';

const examples = `
Runs each test many times, in the suite and alone. Reports how often it fails,
with 95 % bounds, and why: because of tests that ran before it (order), any
parallel tests (load), a parallel test that shares data with it (data), another
time zone (time), or none of these (random). Then agents fix it: those of the
route flaky in agents.yaml. As proof, the test must pass so many runs under the
same condition that, unfixed, it would pass them all in at most 1 % of cases.

  self-heal flaky                   all flaky tests of the suite
  self-heal flaky cart.spec.ts:9    this test
  self-heal flaky --dry-run         measure and explain, and change nothing
  self-heal flaky --list            list all tests that were ever flaky`;

/** `self-heal flaky`: measures, explains and heals flaky tests (FL-1 to FL-4). */
export function define(command: Command): Command {
  command.argument(
    '[filter...]',
    'test files to run, as in Playwright: regular expressions for their paths, or file:line',
  );
  command.option(
    '--list',
    'run nothing; list all tests that were ever flaky, those that fail most often first',
  );
  return addHealingFlags(addWaitFlag(addVerifyFlag(addSuiteSelectionFlags(command))))
    .addHelpText('after', examples)
    .action(
      createAction(async (filters: string[], options: RunOptions) =>
        options.list ? listFlakes(options) : runFlaky(filters, options),
      ),
    );
}

function listFlakes(flags: RunOptions): Promise<number | Problem> {
  return withStore(flags, async (store) => {
    const flakes = (await store?.listFlakes()) ?? [];
    if (flags.json) return print({ schemaVersion: 1, flakes });
    const lines = flakes.map(({ name, kind, red, green, lastSeen }) => {
      const rate = formatPercent(red / (red + green)).padStart(5);
      return `${rate}  ${(kind ?? '').padEnd(6)}  ${lastSeen.slice(0, 10)}  ${name} (red ${red} of ${red + green})`;
    });
    return printText(lines.length === 0 ? 'No test was ever seen to be flaky.' : lines.join('\n'));
  });
}

function runFlaky(filters: string[], options: RunOptions): Promise<number | Problem> {
  const project = { cwd: process.cwd(), env: process.env };
  return runCommand({ ...project, name: 'flaky', filters, passThrough: [], options }, flaky);
}
