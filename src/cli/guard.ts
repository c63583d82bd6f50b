import path from 'node:path';
import { Command } from 'commander';
import { exitCodes } from '../core/exit-codes.js';
import { endWith, print } from './end.js';
import { configFlag } from './options.js';
import { placesOf, runGuard } from '../guard/run-guard.js';
import { gitChanges, type NoBase } from '../git/git-trees.js';
import type { Findings, Strength, TestDifference } from '../guard/findings.js';
import { isSpecName } from '../guard/test-places.js';
import { findPlaywright } from '../playwright/find-playwright.js';
import { listTests } from '../playwright/run-suite.js';
import { counted } from '../outputs/format.js';
import type { Problem } from '../problem.js';
import type { SuitePlaces } from '../guard/request.js';

const explanation = `
Compares what each test does in the working tree, including uncommitted changes,
with what it did at the base, and prints by test what is weaker, different,
stronger and new: the steps before (-) and after (+).
Exit codes: ${exitCodes.green} no test is weaker, ${exitCodes.red} one is (with --strict: or different),
            ${exitCodes.usage} nothing to compare with`;

/** `self-heal guard`: judges the changes in the working tree, whoever made them, without running the suite (HN-3, HN-4). */
export function guardCommand(): Command {
  return new Command('guard')
    .description('show what the changes since a commit do to the tests; runs no tests')
    .option('--base <ref>', 'the commit to compare with (default: where the branch left the default branch)')
    .option('--strict', 'also exit with 1 for a test that does something different, or a protected file')
    .option(...configFlag)
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(endWith(runGuardCommand));
}

/** How long judging a branch may take, in milliseconds. A branch may be larger than an agent's fix. */
const LIMIT_MS = 60_000;

/** The flags of `self-heal guard`. */
interface GuardOptions {
  readonly base?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly strict?: boolean;
}

/** Runs `self-heal guard`: judges the changes and prints the findings. */
async function runGuardCommand(options: GuardOptions): Promise<number | Problem> {
  const cwd = process.cwd();
  const changed = await gitChanges(cwd, options.base ?? null);
  if ('what' in changed) return problemOf(changed);
  const { root, base, changes, before, after } = changed;
  const isSame = changes.length === 0;
  const paths = new Set(await before.paths());
  const of = { root, config: options.config ?? null, has: (file: string) => paths.has(file) };
  const suite = isSame ? nothingKnown : await suiteIn(cwd, of);
  const specs = [...paths].filter((one) => isSpecName.test(one));
  const places = { ...suite, testFiles: [...new Set([...suite.testFiles, ...specs])] };
  const request = { category: 'ui-error', tests: 'shown', changes, before, after, suite: places } as const;
  const findings = await runGuard(request, { limitMs: LIMIT_MS });
  const failed = failuresIn(findings, options.strict ?? false);
  if (options.json) print({ schemaVersion: 1, base, findings: failed, ...asJson(findings) });
  else tell(findings, { cwd, root, count: changes.length });
  return failed.length > 0 ? exitCodes.red : exitCodes.green;
}

/** Returns what makes the command fail. */
function failuresIn({ violations, differences, cut }: Findings, isStrict: boolean) {
  const fails = (one: TestDifference) =>
    one.strength === 'weaker' || (isStrict && one.strength === 'different');
  return [
    ...violations.map(({ rule, file, line, says }) => ({ rule, file, line, says })),
    ...differences.filter(fails).map(({ strength, test, file, line }) => {
      return {
        rule: strength === 'weaker' ? 'test-weakened' : 'test-changed',
        file,
        line,
        says: `${test} is ${strength}`,
      };
    }),
    ...(isStrict ? cut : []).map(({ file, why }) => ({
      rule: 'protected-file',
      file,
      line: null,
      says: why,
    })),
  ];
}

const nothingKnown: SuitePlaces = { testFiles: [], testDir: null, config: null, titles: [] };

/** Asks Playwright about its suite: the files that `playwright test --list` loads stand for those that a run would load. */
async function suiteIn(
  cwd: string,
  { root, config, has }: { root: string; config: string | null; has: (file: string) => boolean },
): Promise<SuitePlaces> {
  const playwright = findPlaywright(cwd, config === null ? undefined : path.resolve(cwd, config));
  if (!playwright.ok) {
    process.stderr.write(
      `self-heal: ${playwright.error.message}; test files are recognized by their names\n`,
    );
    return nothingKnown;
  }
  const args = config === null ? [] : ['--config', config];
  const listed = await listTests({ playwright: playwright.value, cwd, args });
  if (listed.tests.length === 0)
    process.stderr.write(
      'self-heal: Playwright could not list the tests; test files are recognized by their names\n',
    );
  return placesOf(root, listed, has);
}

function asJson({ differences, locatorChanges, cut, notes }: Findings): object {
  const files = cut.map(({ file, why }) => ({ file, why }));
  return { tests: differences, locators: locatorChanges, protected: files, notes };
}

const strengths: readonly Strength[] = ['weaker', 'different', 'new', 'stronger'];

const rank = (one: TestDifference | undefined) => strengths.indexOf(one?.strength ?? 'new');

/** Tells what changed by test, the weaker ones first. What a shared helper does differently is told once. */
function tell(findings: Findings, { cwd, root, count }: { cwd: string; root: string; count: number }): void {
  const { violations, differences, locatorChanges, cut, notes } = findings;
  const place = ({ file, line }: { file: string; line: number | null }) =>
    `${path.relative(cwd, path.join(root, file))}${line === null ? '' : `:${line}`}`;
  const lines = violations.map((one) => `${place(one)} ${one.rule}: ${one.says}`);
  const same = new Map<string, TestDifference[]>();
  for (const one of differences) {
    const key = JSON.stringify([one.strength, one.file, one.line, one.before, one.after]);
    same.set(key, [...(same.get(key) ?? []), one]);
  }
  const told = [...same.values()].toSorted(([a], [b]) => rank(a) - rank(b));
  for (const [one, ...others] of told) {
    if (!one) continue;
    const more = others.length > 0 ? ` (and ${counted(others.length, 'more test')})` : '';
    lines.push(`${place(one)} ${one.strength}: ${one.test}${more}`);
    // A new test is best read in its file.
    if (one.strength === 'new') continue;
    lines.push(...one.before.map((step) => `  - ${step}`), ...one.after.map((step) => `  + ${step}`));
  }
  for (const one of locatorChanges) lines.push(`${place(one)} locator: ${one.old} → ${one.now}`);
  for (const { file, why } of cut) lines.push(`${place({ file, line: null })} protected: ${why}`);
  for (const line of lines) process.stdout.write(`${line}\n`);
  for (const one of notes) process.stderr.write(`${place(one)} note: ${one.says}\n`);
  const tests = (strength: Strength) =>
    new Set(differences.filter((one) => one.strength === strength).map(({ test }) => test)).size;
  const counts = strengths.flatMap((one) => (tests(one) > 0 ? `${counted(tests(one), 'test')} ${one}` : []));
  const none =
    count === 0
      ? 'nothing has changed'
      : `no test does anything else after ${counted(count, 'changed file')}`;
  process.stderr.write(`self-heal: ${counts.join(', ') || none}\n`);
}

function problemOf({ what, detail }: NoBase): Problem {
  const words: Record<NoBase['what'], Pick<Problem, 'message' | 'remedy'>> = {
    'no-git': { message: 'git is not installed', remedy: 'Install git: the guard compares commits.' },
    'no-repository': {
      message: 'not a git repository',
      remedy: 'Run `self-heal guard` inside the repository of your project.',
    },
    unreadable: {
      message: `git cannot read this repository: ${detail}`,
      remedy: 'Run `git status` here: it says what to do.',
    },
    'unknown-base': {
      message: `no commit to compare with: ${detail}`,
      remedy: 'Name one with --base; in CI fetch it first (actions/checkout with `fetch-depth: 0`).',
    },
    'no-merge-base': {
      message: `the history does not reach back to where the branch left ${detail}`,
      remedy:
        'Fetch the full history (`git fetch --unshallow`; actions/checkout with `fetch-depth: 0`), or name a commit with --base.',
    },
  };
  return { kind: 'usage', ...words[what] };
}
