import fs from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { TestCase, TestError as PlaywrightError, TestResult, TestStep } from '@playwright/test/reporter';
import type { TestError, TestFailure, TestRef, SetUp } from '../../model/failure.js';
import type { TestResult as TestEntry } from '../suite-run.js';

/** Evidence is bounded when it is gathered. These limits only bound the lines of the report. */
const MAX_TEXT = 64 * 1024;
const MAX_ERRORS = 20;
const MAX_CAUSES = 10;
const MAX_ATTACHMENTS = 50;

/** Returns a test's identity and location as plain data. */
function createTestRef(test: TestCase): TestRef {
  // The first two titles in the path are the root's and the project's.
  const titlePath = test.titlePath();
  return {
    id: test.id,
    titlePath: titlePath.slice(2),
    location: { ...test.location },
    project: titlePath[1] ?? '',
  };
}

/** Returns one try that ended unexpectedly as plain data. */
export function createTestFailure(test: TestCase, result: TestResult): TestFailure {
  const attachments = result.attachments.flatMap(({ name, contentType, path }) =>
    path ? [{ name, contentType, path }] : [],
  );
  return {
    scope: 'test',
    test: createTestRef(test),
    status: result.status === 'skipped' ? 'failed' : result.status,
    errors: listErrors(test, result),
    failedStep: findFailedStep(result),
    unfinished: result.steps.flatMap(listUnfinishedActions).slice(0, MAX_ERRORS),
    retry: result.retry,
    durationMs: result.duration,
    startedAt: result.startTime.getTime(),
    attachments: attachments.slice(0, MAX_ATTACHMENTS),
    ...readSetUp(test, result),
  };
}

/** Returns the setup of a test by its project. */
function readSetUp(test: TestCase, { startTime }: TestResult): { setUp?: SetUp } {
  const project = test.parent.project();
  const projects = project?.dependencies ?? [];
  const stored = project?.use.storageState;
  const storageState = typeof stored === 'string' ? path.relative(process.cwd(), stored) : null;
  if (projects.length === 0 && storageState === null) return {};
  const storageFile =
    storageState === null ? undefined : fs.statSync(storageState, { throwIfNoEntry: false });
  const storageAgeMs = storageFile
    ? Math.max(0, Math.round(startTime.getTime() - storageFile.mtimeMs))
    : null;
  const isEmpty = storageState !== null && storageFile !== undefined && isStorageEmpty(storageState);
  return {
    setUp: {
      projects,
      storageState: storageState?.replaceAll('\\', '/') ?? null,
      storageAgeMs,
      ...(isEmpty ? { isStorageEmpty: true as const } : {}),
    },
  };
}

/** True if a stored session has neither cookies nor local storage. */
function isStorageEmpty(file: string): boolean {
  try {
    const { cookies, origins } = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
    return Array.isArray(cookies) && Array.isArray(origins) && cookies.length + origins.length === 0;
  } catch {
    return false;
  }
}

/** Playwright has no error for a test marked with `test.fail()` that passes; its own reporters add this one. */
function listErrors(test: TestCase, { status, errors }: TestResult): TestError[] {
  if (status !== 'passed') return errors.slice(0, MAX_ERRORS).map(createTestError);
  return [createTestError({ message: 'Expected to fail, but passed.', location: test.location })];
}

/** Returns an error without colors; for `throw 'string'`, the thrown text. */
export function createTestError(error: PlaywrightError): TestError {
  const { location } = error;
  return {
    message: stripColors(error.message ?? unquoteThrown(error.value)) ?? '',
    stack: stripColors(error.stack),
    snippet: stripColors(error.snippet),
    location: location ? { file: location.file, line: location.line, column: location.column } : null,
    causes: listCauses(error),
  };
}

/** Playwright renders a thrown string as `'text'`. */
function unquoteThrown(value: string | undefined): string | undefined {
  return value?.replace(/^'(.*)'$/s, '$1');
}

function listCauses(error: PlaywrightError): string[] {
  const chain: string[] = [];
  for (let cause = error.cause; cause && chain.length < MAX_CAUSES; cause = cause.cause) {
    chain.push(stripColors(cause.message ?? unquoteThrown(cause.value)) ?? '');
  }
  return chain;
}

function stripColors(text: string | undefined): string | null {
  if (text === undefined) return null;
  const clean = stripVTControlCharacters(text);
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}… (cut)` : clean;
}

/**
 * Returns the innermost step that raised one of the result's errors, or else the step that a timeout interrupted. Since about 1.64, a step has its
 * locator in a subtitle.
 */
function findFailedStep(result: TestResult): string | null {
  const innermost = result.steps.flatMap(findInnermostFailed);
  const messages = new Set(result.errors.map((error) => error.message));
  const raised = innermost.find((step) => messages.has(step.error?.message));
  const step = raised ?? innermost.find(({ error }) => error) ?? innermost[0];
  return step ? stripColors([step.title, step.subtitle].filter(Boolean).join(' ')) : null;
}

/** Up to about 1.53, a step is called `locator.getByRole('button').click`. */
const olderTitle = /^(?:locator|page|frame)\.(.+)\.(\w+)$/;
const actionOnElement = /^(?!Wait|Expect|Evaluate)\w[\w ]{0,30} (?:locator|getBy\w+|frameLocator)\(/;

/** An action that hung has no end, or ended with an error about the end of the test or its page. */
function isUnfinished({ duration, error }: TestStep): boolean {
  return error ? /Test timeout|Test ended|has been closed/.test(error.message ?? '') : duration < 0;
}

/** Returns the actions on elements that were still in progress, named as in current versions. */
function listUnfinishedActions(step: TestStep): string[] {
  const inner = step.steps.flatMap(listUnfinishedActions);
  if (inner.length > 0 || !isUnfinished(step)) return inner;
  const title = [step.title, step.subtitle].filter(Boolean).join(' ');
  const [, locator, action] = olderTitle.exec(title) ?? [];
  const name = locator && action ? `${action[0]?.toUpperCase()}${action.slice(1)} ${locator}` : title;
  return actionOnElement.test(name) ? [stripColors(name) ?? ''] : [];
}

function findInnermostFailed(step: TestStep): TestStep[] {
  const isRed = step.error !== undefined || step.duration < 0;
  const inner = step.steps.flatMap(findInnermostFailed);
  if (inner.length > 0) return inner;
  return isRed ? [step] : [];
}

/** Returns the final outcome of a test. In Playwright, tests that did not start or were interrupted are `skipped`, too. */
export function determineOutcome(test: TestCase): TestEntry['outcome'] {
  const outcome = test.outcome();
  if (outcome !== 'skipped') return outcome;
  if (test.results.some((result) => result.status === 'interrupted')) return 'not-run';
  return test.expectedStatus === 'skipped' ? 'skipped' : 'not-run';
}

export function createTestResult(test: TestCase): TestEntry {
  const tries = test.results.filter((result) => result.workerIndex >= 0);
  const [first] = tries;
  return {
    ...(first ? { firstTry: { worker: first.workerIndex, startedAt: first.startTime.getTime() } } : {}),
    test: createTestRef(test),
    outcome: determineOutcome(test),
    retries: Math.max(0, ...tries.map((result) => result.retry)),
    durationMs: tries.reduce((sum, result) => sum + result.duration, 0),
  };
}
