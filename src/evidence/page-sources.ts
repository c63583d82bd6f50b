import { stat } from 'node:fs/promises';
import type { Attachment, TestFailure } from '../core/failure.js';
import { readErrorContext } from './error-context.js';
import type { EvidenceLimits, PageEvidence, ScreenshotSource } from './page-evidence.js';
import { readCapture } from './read-capture.js';
import type { MissingEvidence } from './missing-evidence.js';
import { readTrace } from './trace/read-trace.js';

/** What all sources together know about a test's page; where they overlap, the best one is used. */
export interface TestPage extends PageEvidence {
  /** Absolute path of the trace, or null. */
  readonly trace: string | null;
}

/**
 * Reads what is known about a test's page: from the capture; from the trace if the capture or its screenshot is missing;
 * from Playwright's own attachments otherwise. Reports sources that cannot be read in `missing`; never rejects.
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
  return {
    ...(captured ?? traced ?? { console: [], network: [] }),
    screenshot: captured?.screenshot ?? attached ?? traced?.screenshot ?? null,
    noScreenshotBecause: captured?.noScreenshotBecause ?? traced?.noScreenshotBecause ?? null,
    ariaSnapshot:
      captured?.ariaSnapshot ??
      traced?.ariaSnapshot ??
      (await attachedSnapshot(failure.attachments, missing)),
    pageUrl: captured?.pageUrl ?? traced?.pageUrl ?? null,
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
