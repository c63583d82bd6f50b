import { stat } from 'node:fs/promises';
import type { Attachment, TestFailure } from '../core/failure.js';
import { readErrorContext } from './error-context.js';
import type { EvidenceLimits, PageEvidence, ScreenshotSource } from './page-evidence.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { MissingEvidence } from './missing-evidence.js';
import { readTrace } from './trace/read-trace.js';

/** What all sources together know about a test's page; where they overlap, the best one is used. */
export interface TestPage extends PageEvidence {
  /** Absolute path of the trace, or null. */
  readonly trace: string | null;
}

const nothing: PageEvidence = {
  console: [],
  network: [],
  screenshot: null,
  ariaSnapshot: null,
  pageUrl: null,
  elements: null,
  log: [],
};

const untraced = {
  on: "no trace: the worker ended before it could write one, or the test's file turns traces off",
  own: 'no trace: a test of the run records one itself and does not attach it as `trace`, and Playwright cannot record two',
} as const;

/**
 * Reads what is known about a test's page from its trace, which Playwright or the test itself recorded, and from Playwright's other
 * attachments. Reports sources that cannot be read in `missing`; never rejects.
 */
export async function readTestPage(
  failure: Pick<TestFailure, 'attachments'>,
  { limits, tracing }: { readonly limits: EvidenceLimits; readonly tracing: SuiteRun['tracing'] },
  missing: MissingEvidence,
): Promise<TestPage> {
  const { attachments } = failure;
  const trace = await attachedTrace(attachments, missing);
  if (trace === null && tracing) missing.miss(untraced[tracing]);
  const traced =
    trace === null
      ? null
      : await missing.attempt('trace.zip is corrupt', () => readTrace({ file: trace, limits, missing }));
  const page = traced ?? nothing;
  const snapshot = await attachedSnapshot(attachments, missing);
  const ofPage = snapshot?.ofPage === true ? snapshot.yaml : null;
  // The tree that Playwright took of the page knows what its styles hide.
  const ariaSnapshot = ofPage ?? page.ariaSnapshot ?? snapshot?.yaml ?? null;
  if (ariaSnapshot !== null && ariaSnapshot === snapshot?.yaml && !snapshot.ofPage)
    missing.miss('the accessibility snapshot shows only the element under test, not its page');
  return {
    ...page,
    ariaSnapshot,
    screenshot: (await attachedPicture(attachments)) ?? page.screenshot,
    trace,
  };
}

/** Returns Playwright's own screenshot, or the actual image of a failed screenshot comparison. */
async function attachedPicture(attachments: readonly Attachment[]): Promise<ScreenshotSource | null> {
  const pictures = attachments.filter((attachment) => attachment.contentType.startsWith('image/'));
  const picture =
    pictures.findLast(({ name }) => name === 'screenshot') ??
    pictures.findLast(({ name }) => /-actual(?:\.\w+)?$/.test(name));
  return picture && (await isFile(picture.path)) ? { kind: 'file', path: picture.path } : null;
}

async function attachedTrace(
  attachments: readonly Attachment[],
  missing: MissingEvidence,
): Promise<string | null> {
  const trace = attachments.findLast(({ name }) => name === 'trace');
  if (!trace) return null;
  if (await isFile(trace.path)) return trace.path;
  missing.miss('trace.zip: it is no longer where Playwright wrote it');
  return null;
}

async function attachedSnapshot(attachments: readonly Attachment[], missing: MissingEvidence) {
  const context = attachments.findLast(({ name }) => name === 'error-context');
  return context ? missing.attempt('error-context.md', () => readErrorContext(context.path)) : null;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
