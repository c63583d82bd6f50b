import { missingBrowser } from '../diagnose/advice.js';
import type { Problem } from '../problem.js';
import { findPackageManager } from './package-manager.js';
import { reportsNoTests } from './create-suite-run.js';
import type { SuiteRun } from './suite-run.js';

/** Captures the path of a missing browser that the user's config sets. */
const executablePath = /Failed to launch \w+ because executable doesn't exist at (.+)/;

/** Playwright's messages about invalid arguments and config values, which an agent should not fix. */
const refusalMessages = [
  /^error: (?:unknown option|option|missing|too many|unknown command).*/,
  /^Error: Project\(s\) .* not found.*/,
  /^Error: No projects matched.*/,
  /^Error: .*(?:config|project|projects\[\d+\])[\w.[\]]* must be .*/,
  /^Error: Workers .*/,
  /^Error: --[\w-]+ .*/,
  /^Error: Unsupported browser .*/,
];

/** These count only if the error has no position in the project's own code, such as its config. */
const refusalsOutsideCode = [
  /^SyntaxError: Invalid regular expression: .*/,
  /^Error: Cannot detect changed files for --only-changed mode/,
  /^Error: ENOENT: no such file or directory, open .*/,
];

/** Returns a `Problem` if the first run shows that healing is pointless (CL-2), otherwise null. */
export function findFirstRunProblem(run: SuiteRun, request: SelectionRequest): Problem | null {
  return findRefusal(run) ?? findMissingBrowser(run) ?? findEmptySelection(run, request);
}

/** Returns a `Problem` if Playwright refused its arguments or a value in the config. */
export function findRefusal(run: SuiteRun): Problem | null {
  const [error] = run.suiteFailure?.errors ?? [];
  if (!error || run.tests.length > 0) return null;
  const patterns = error.location === null ? [...refusalMessages, ...refusalsOutsideCode] : refusalMessages;
  const refusal = patterns
    .map((pattern) => pattern.exec(error.message)?.[0])
    .find((text) => text !== undefined);
  if (refusal === undefined) return null;
  return {
    kind: 'playwright-refused',
    message: 'Playwright refused to start',
    detail: refusal.replace(/^error: /i, ''),
    remedy: 'Correct the argument or the value in the Playwright config.',
  };
}

/** Returns a `Problem` if every failing test reports that its browser is not installed. */
export function findMissingBrowser(run: SuiteRun): Problem | null {
  if (run.failures.length === 0) return null;
  const texts = run.failures.map(({ errors }) => errors.map(({ message }) => message).join('\n'));
  if (!texts.every((text) => missingBrowser.test(text))) return null;
  const [text = ''] = texts;
  const file = executablePath.exec(text)?.[1];
  const channel = /playwright install ([\w-]+)"/.exec(text)?.[1];
  const install = `${findPackageManager(run.rootDir).exec} playwright install${channel ? ` ${channel}` : ''}`;
  return {
    kind: 'browser-missing',
    message: file
      ? `there is no browser at ${file}`
      : 'the browser of this Playwright version is not installed',
    remedy: file ? 'Correct `executablePath` in the Playwright config.' : `Run \`${install}\`.`,
  };
}

/** The parts of a request that determine which tests a run has. */
interface SelectionRequest {
  /** True if filters or flags leave out some of the config's tests. */
  readonly isNarrowed: boolean;
  /** `verify.prepare`, which may generate the tests, or null. */
  readonly prepare: string | null;
}

/** Returns a `Problem` if no test matched the selection. */
export function findEmptySelection(run: SuiteRun, { isNarrowed, prepare }: SelectionRequest): Problem | null {
  const errors = run.suiteFailure?.errors ?? [];
  if (run.tests.length > 0 || errors.length === 0 || !errors.every(reportsNoTests)) return null;
  return {
    kind: 'no-tests',
    message: isNarrowed ? 'no test matches the selection' : 'the config finds no tests',
    remedy: isNarrowed
      ? 'Check the filters, --grep and --project; `playwright test --list` shows all tests.'
      : prepare === null
        ? 'Check its `testDir` and `testMatch`; `playwright test --list` shows what it finds.'
        : `Run \`${prepare}\` first if it generates them: verify.prepare runs before re-runs only.`,
  };
}
