import { type Command, InvalidArgumentError, Option } from 'commander';
import { verifyLevels } from '../model/settings.js';

/** Selects the suite. */
export const configFlag = [
  '-c, --config <file>',
  'Playwright configuration file, or a folder that contains one',
] as const;

/** Selects the store. */
export const storeFlag = [
  '--store <location>',
  'the store instead of the one in agents.yaml: a file or a postgres:// URL (a password is better in SELF_HEAL_STORE)',
] as const;

/** Selects the agents.yaml. */
export const agentsFlag = [
  '--agents <file>',
  'agents.yaml to use instead of the one in this folder',
] as const;

/** Adds Playwright's selection flags, with Playwright's names and syntax. */
export function addSelectionFlags(command: Command): Command {
  return addSuiteSelectionFlags(command)
    .option('--shard <i/n>', 'run this shard of the suite')
    .option('--retries <n>', "Playwright's own retries, in the first run", parseCount)
    .option('-x', 'stop after the first failure')
    .option('--max-failures <n>', 'stop after this many failures', parseCount);
}

/** Adds those selection flags that also make sense without a first run of the suite. */
export function addSuiteSelectionFlags(command: Command): Command {
  return command
    .option(...configFlag)
    .option('-g, --grep <pattern>', 'only run tests that match this regular expression')
    .option('--grep-invert <pattern>', 'only run tests that do not match this regular expression')
    .addOption(
      new Option('--project <name>', 'only run this project; may be repeated').argParser(collectValues),
    )
    .option('-j, --workers <count>', 'number of workers, or a percentage of the cores')
    .option('--repeat-each <n>', 'run each test this many times', parseCount)
    .option('--timeout <ms>', 'timeout of each test, in milliseconds', parseCount)
    .option('--last-failed', 'only run the tests that failed in the last run')
    .option('--only-changed [ref]', 'only run test files that changed since a commit')
    .option('--headed', 'show the browser');
}

/** Adds the flags that control how a run heals and ends. */
export function addHealingFlags(command: Command): Command {
  return addAgentsFlag(command)
    .option(
      '--dry-run',
      'gather evidence, classify, and print which agent would get which prompt, without starting any',
    )
    .option('--json', 'print report.json to standard output; Playwright’s own output goes to standard error')
    .option('--fail-on-heal', 'exit 1 when a test had to be healed')
    .option('--fail-on-flaky-tests', 'exit 1 when a test is flaky');
}

/** Adds the flag that controls how thoroughly fixes are proven (HN-5). */
export function addVerifyFlag(command: Command): Command {
  const flag = new Option(
    '--verify <how>',
    'how thoroughly to prove a fix; clean: also in a copy with only the files in git, as in CI',
  );
  return command.addOption(flag.choices(verifyLevels));
}

/** Adds `--agents`, which takes the number of agents that work at the same time (SC-3) or the file that describes them. */
export function addAgentsFlag(command: Command): Command {
  const flag = new Option(
    '--agents <n|file>',
    'a number: how many agents work at the same time (default: 1); anything else: the agents.yaml to use; may be given twice',
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
