import { type Command, InvalidArgumentError, Option } from 'commander';
import { verifyLevels } from '../model/settings.js';

/** Chooses the Playwright config. */
export const configFlag = [
  '-c, --config <file>',
  'use this Playwright config file, or the one in this folder',
] as const;

/** Chooses the store. */
export const storeFlag = [
  '--store <location>',
  'use this store instead of the one that agents.yaml names: a file or a postgres:// URL (for a URL with a password, set SELF_HEAL_STORE)',
] as const;

/** Chooses the agents.yaml. */
export const agentsFlag = [
  '--agents <file>',
  'use this file instead of the agents.yaml in this folder',
] as const;

/** Adds Playwright's selection flags, with Playwright's names and syntax. */
export function addSelectionFlags(command: Command): Command {
  return addSuiteSelectionFlags(command)
    .option('--shard <i/n>', 'only run this shard of the suite, such as 2/5')
    .option(
      '--retries <n>',
      'let Playwright itself retry a failed test this often, in the first run',
      parseCount,
    )
    .option('-x', 'stop after the first failure')
    .option('--max-failures <n>', 'stop after this many failures', parseCount);
}

/** Adds the selection flags that also apply without a first run of the suite. */
export function addSuiteSelectionFlags(command: Command): Command {
  return command
    .option(...configFlag)
    .option('-g, --grep <pattern>', 'only run tests that match this regular expression')
    .option('--grep-invert <pattern>', 'only run tests that do not match this regular expression')
    .addOption(
      new Option('--project <name>', 'only run tests of this Playwright project; may be repeated').argParser(
        collectValues,
      ),
    )
    .option(
      '-j, --workers <count>',
      'use this many Playwright workers: a number, or a percentage of the cores',
    )
    .option('--repeat-each <n>', 'run each test this many times', parseCount)
    .option('--timeout <ms>', 'let each test run for at most this many milliseconds', parseCount)
    .option('--last-failed', 'only run the tests that failed in the last run')
    .option(
      '--only-changed [ref]',
      'only run test files that changed since this commit (default: uncommitted ones)',
    )
    .option('--headed', 'show the browser window while the tests run');
}

/** Adds the flags that control how a run heals and ends. */
export function addHealingFlags(command: Command): Command {
  return addAgentsFlag(command)
    .option(
      '--dry-run',
      'start no agent: run the tests, classify the failures, and print which agent would get which prompt',
    )
    .option('--json', 'print report.json to standard output; Playwright’s own output goes to standard error')
    .option('--fail-on-heal', 'exit with 1 if a test had to be healed')
    .option('--fail-on-flaky-tests', 'exit with 1 if a test is flaky');
}

/** Adds the flag that controls how thoroughly fixes are proven (HN-5). */
export function addVerifyFlag(command: Command): Command {
  const flag = new Option(
    '--verify <how>',
    'how thoroughly to prove each fix: quick (one green re-run), full (the default), or clean (full, and again in a copy that has only the files in git, as in CI)',
  );
  return command.addOption(flag.choices(verifyLevels));
}

/** Adds `--agents`: the number of agents that work at the same time (SC-3), or the file that describes them. */
export function addAgentsFlag(command: Command): Command {
  const flag = new Option(
    '--agents <n|file>',
    'with a number, let this many agents work at the same time (default: 1); with a file name, use that file as agents.yaml; may be given twice',
  );
  return command.addOption(
    flag.argParser((value: string, file: string | undefined) => {
      const count = Number(value);
      if (Number.isNaN(count)) return value;
      if (!Number.isSafeInteger(count) || count < 1)
        throw new InvalidArgumentError('It must be a whole number of agents, at least 1, or a file.');
      command.setOptionValueWithSource('parallel', count, 'cli');
      return file;
    }),
  );
}

export function addWaitFlag(command: Command): Command {
  return command.option(
    '--wait',
    'if another run is in progress in this project, wait for it instead of exiting with 2',
  );
}

/** Collects the values of a repeatable flag. */
export function collectValues(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Returns a parser for whole numbers within these bounds, both inclusive. */
export function createWholeNumberParser(
  from: number,
  to = Number.MAX_SAFE_INTEGER,
): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= from && number <= to) return number;
    const bounds = to === Number.MAX_SAFE_INTEGER ? `${from} or more` : `from ${from} to ${to}`;
    throw new InvalidArgumentError(`It must be a whole number, ${bounds}.`);
  };
}

const parseCount = createWholeNumberParser(0);
