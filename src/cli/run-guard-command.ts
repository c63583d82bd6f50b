import path from 'node:path';
import type { Category } from '../core/diagnosis.js';
import { placesOf } from '../guard/create-guard.js';
import { gitChanges, type NoBase } from '../git-trees.js';
import type { Findings } from '../guard/findings.js';
import { runGuard } from '../guard/run-guard.js';
import { isSpecName, type SuitePlaces } from '../guard/test-places.js';
import { findPlaywright } from '../playwright/find-playwright.js';
import { listTests } from '../playwright/list-tests.js';
import { counted } from '../outputs/format.js';
import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { print } from './end.js';

/** How long judging a branch may take, in milliseconds. A branch may be larger than an agent's fix. */
const LIMIT_MS = 60_000;

/** The flags of `self-heal guard`. */
export interface GuardOptions {
  readonly base?: string;
  readonly category: Category;
  readonly config?: string;
  readonly json?: boolean;
}

/** Runs `self-heal guard`: judges the changes and prints the findings. */
export async function runGuardCommand(options: GuardOptions): Promise<number | Problem> {
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
  const request = {
    category: options.category,
    changes,
    before,
    after,
    suite: places,
    isBranch: true,
  };
  const findings = await runGuard(request, { limitMs: LIMIT_MS });
  if (options.json) print(asJson(findings, base));
  else tell(findings, { cwd, root, count: changes.length });
  return findings.violations.length > 0 ? exitCodes.red : exitCodes.green;
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

function asJson({ violations, notes }: Findings, base: string): object {
  const findings = violations.map(({ rule, file, line, says }) => ({ rule, file, line, says }));
  return { schemaVersion: 1, base, findings, notes };
}

function tell(
  { violations, notes }: Findings,
  { cwd, root, count }: { cwd: string; root: string; count: number },
): void {
  const place = ({ file, line }: { file: string; line: number | null }) =>
    `${path.relative(cwd, path.join(root, file))}${line === null ? '' : `:${line}`}`;
  for (const one of violations) process.stdout.write(`${place(one)} ${one.rule}: ${one.says}\n`);
  for (const one of notes) process.stderr.write(`${place(one)} note: ${one.says}\n`);
  const files = counted(count, 'changed file');
  const found = counted(violations.length, 'finding');
  const none = count === 0 ? 'nothing has changed' : `nothing in ${files} weakens the tests`;
  process.stderr.write(`self-heal: ${violations.length > 0 ? `${found} in ${files}` : none}\n`);
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
