import { stat } from 'node:fs/promises';
import type { Attachment, TestFailure } from '../core/failure.js';
import { readErrorContext } from './error-context.js';
import type { EvidenceLimits, PageEvidence, ScreenshotSource } from './page-evidence.js';
import { readCapture } from './read-capture.js';
import type { MissingEvidence } from './missing-evidence.js';
import { readTrace } from './trace/read-trace.js';

/** What a test's sources know of its page, the better source first where several do. */
export interface TestPage extends PageEvidence {
  /** Absolute path of the trace, or null. */
  readonly trace: string | null;
}

/**
 * Reads what is known of a test's page: the capture; the trace where the capture or its picture is missing; Playwright's
 * own attachments for the rest. A source that cannot be read is said to be missing; never rejects.
 */
export async function readTestPage(
  failure: TestFailure,
  limits: EvidenceLimits,
  missing: MissingEvidence,
): Promise<TestPage> {
  const captured = await captureOf(failure, limits, missing);
  const attached = await attachedPicture(failure.attachments);
  const trace = await attachedTrace(failure.attachments, missing);
  const traced =
    trace !== null && (captured === null || !(captured.screenshot ?? attached))
      ? await missing.attempt('trace.zip is corrupt', () => readTrace({ file: trace, limits, missing }))
      : null;
  const page = captured ?? traced;
  const screenshot = captured?.screenshot ?? attached ?? traced?.screenshot ?? null;
  return {
    console: page?.console ?? [],
    network: page?.network ?? [],
    screenshot,
    noScreenshotBecause: captured?.noScreenshotBecause ?? traced?.noScreenshotBecause ?? null,
    ariaSnapshot:
      captured?.ariaSnapshot ??
      traced?.ariaSnapshot ??
      (await attachedSnapshot(failure.attachments, missing)),
    pageUrl: captured?.pageUrl ?? traced?.pageUrl ?? null,
    covered: captured?.covered ?? null,
    elements: captured?.elements ?? null,
    scripts: captured?.scripts ?? [],
    trace,
  };
}

async function captureOf(
  failure: TestFailure,
  limits: EvidenceLimits,
  missing: MissingEvidence,
): Promise<PageEvidence | null> {
  const file = failure.capture;
  if (file === null) {
    missing.miss(
      'no capture: the worker ended before it could write one, could not be observed, or was not run by self-heal',
    );
    return null;
  }
  return missing.attempt('no capture', () => readCapture(file, limits, missing));
}

/** Playwright's own picture, or that of the page which a failed comparison of pictures kept. */
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
  missing.miss('trace.zip: it is no longer where Playwright put it');
  return null;
}

async function attachedSnapshot(
  attachments: readonly Attachment[],
  missing: MissingEvidence,
): Promise<string | null> {
  const context = attachments.findLast(({ name }) => name === 'error-context');
  if (!context) return null;
  const snapshot = await missing.attempt('error-context.md', () => readErrorContext(context.path));
  if (snapshot && !snapshot.ofPage) {
    missing.miss('the accessibility snapshot shows only the element under test, not its page');
  }
  return snapshot?.yaml ?? null;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
