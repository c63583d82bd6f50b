import { stat } from 'node:fs/promises';
import type { Attachment, TestFailure } from '../model/failure.js';
import type { PageEvidence, ScreenshotSource } from './page-evidence.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { type EvidenceNotes, bounds } from './bounded-text.js';
import { isSecretField } from '../secrets/secret-fields.js';
import { maskedValue } from './trace/dom.js';
import { readTrace, type TraceSource } from './trace/read-trace.js';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';

/** The page of a test; each part comes from the best available source. */
export interface TestPage extends PageEvidence {
  /** Playwright's accessibility snapshot of the whole page; null if it took none (before 1.53, or after a failed matcher on an element). */
  readonly snapshot: string | null;
  /** Absolute path of the trace, or null. */
  readonly trace: string | null;
}

const emptyPage: PageEvidence = {
  steps: [],
  console: [],
  network: [],
  screenshot: null,
  pageUrl: null,
  elements: null,
  log: [],
};

const noTraceReasons = {
  on: "no trace: the worker ended before it could write one, or the test's file turns traces off",
  own: 'no trace: a test of the run records its own without attaching it as `trace`, and Playwright cannot record two',
} as const;

/**
 * Reads a test's page from its trace, which Playwright or the test itself recorded, and from Playwright's other attachments. Notes sources that
 * it cannot read; never rejects.
 */
export async function readTestPage(
  failure: Pick<TestFailure, 'attachments'>,
  { limits, tracing, learn }: Pick<TraceSource, 'limits' | 'learn'> & Pick<SuiteRun, 'tracing'>,
  notes: EvidenceNotes,
): Promise<TestPage> {
  const { attachments } = failure;
  const trace = await findAttachedTrace(attachments, notes);
  if (trace === null && tracing) notes.noteMissing(noTraceReasons[tracing]);
  const readResult =
    trace === null
      ? null
      : await notes.tryGather('trace.zip is corrupt', () => readTrace({ file: trace, limits, notes, learn }));
  const page = readResult ?? emptyPage;
  return {
    ...page,
    snapshot: await readAttachedSnapshot(attachments, notes),
    screenshot: (await findAttachedPicture(attachments)) ?? page.screenshot,
    trace,
  };
}

/** Returns Playwright's own screenshot, or the actual image of a failed screenshot comparison. */
async function findAttachedPicture(attachments: readonly Attachment[]): Promise<ScreenshotSource | null> {
  const pictures = attachments.filter((attachment) => attachment.contentType.startsWith('image/'));
  const picture =
    pictures.findLast(({ name }) => name === 'screenshot') ??
    pictures.findLast(({ name }) => /-actual(?:\.\w+)?$/.test(name));
  return picture && (await isFile(picture.path)) ? { kind: 'file', path: picture.path } : null;
}

async function findAttachedTrace(
  attachments: readonly Attachment[],
  notes: EvidenceNotes,
): Promise<string | null> {
  const trace = attachments.findLast(({ name }) => name === 'trace');
  if (!trace) return null;
  if (await isFile(trace.path)) return trace.path;
  notes.noteMissing('trace.zip: it is no longer where Playwright wrote it');
  return null;
}

async function readAttachedSnapshot(
  attachments: readonly Attachment[],
  notes: EvidenceNotes,
): Promise<string | null> {
  const context = attachments.findLast(({ name }) => name === 'error-context');
  if (!context) return null;
  return notes.tryGather('error-context.md', async () =>
    extractPageSnapshot(await text(createReadStream(context.path, { end: bounds.errorContext - 1 }))),
  );
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/**
 * Extracts the accessibility snapshot from Playwright's error-context document, without its instructions to AI readers (EV-10); null if there is
 * no snapshot of the whole page.
 */
export function extractPageSnapshot(markdown: string): string | null {
  const lines = markdown.split(/\r?\n/);
  // The last match, because the error text above it may contain the same line.
  const start = lines.lastIndexOf('# Page snapshot');
  const open = start < 0 ? -1 : lines.indexOf('```yaml', start);
  if (open < 0) return null;
  const close = lines.indexOf('```', open + 1);
  return cleanSnapshot(lines.slice(open + 1, close < 0 ? lines.length : close));
}

/**
 * Removes Playwright's additions for AI readers that drive the page (element references, cursors, bare containers), and the contents of secret
 * fields.
 */
function cleanSnapshot(yaml: readonly string[]): string {
  const lines: string[] = [];
  /** The indents of the removed containers that enclose the line. */
  let removedIndents: number[] = [];
  for (const line of yaml) {
    const indent = line.search(/\S|$/);
    removedIndents = removedIndents.filter((container) => container < indent);
    const text = line.slice(indent).replaceAll(/ \[(?:ref=\w+|cursor=\w+|active)\]/g, '');
    if (text === '- generic:') removedIndents.push(indent);
    else {
      const [, field = text, label = ''] = /^(- textbox "((?:[^"\\]|\\.)*)".*?): ./.exec(text) ?? [];
      const item = isSecretField({ label }) ? `${field}: "${maskedValue}"` : text;
      lines.push(' '.repeat(indent - 2 * removedIndents.length) + item.replace(/^- generic: /, '- text: '));
    }
  }
  return lines.join('\n');
}

const pictureTypes: readonly { extension: string; signature: readonly number[] }[] = [
  { extension: 'png', signature: [0x89, 0x50, 0x4e, 0x47] },
  { extension: 'jpg', signature: [0xff, 0xd8, 0xff] },
  { extension: 'webp', signature: [0x52, 0x49, 0x46, 0x46] },
];

/**
 * Writes a picture into `folder`, by default as `screenshot.png` (or `.jpg`, `.webp`, according to its first bytes), and returns its path.
 * Rejects if the source cannot be read, is too large, or is not a picture.
 */
export async function copyScreenshot(
  source: ScreenshotSource,
  folder: string,
  name = 'screenshot',
): Promise<string> {
  const bytes = source.kind === 'bytes' ? source.bytes : readPicture(source.path);
  const kind = pictureTypes.find(({ signature }) => signature.every((byte, at) => bytes[at] === byte));
  if (!kind) throw new Error('the file is not a picture');
  const path = join(folder, `${name}.${kind.extension}`);
  writeFileSync(path, bytes);
  return path;
}

/** Maps Playwright's names for the pictures of a screenshot comparison to the names of their copies. */
const comparisonPictures = { expected: 'expected', actual: 'actual', diff: 'difference' } as const;

/** Copies the pictures of a failed screenshot comparison into the folder of the screenshot. */
export async function copyComparisonPictures(
  attachments: readonly Attachment[],
  folder: string,
): Promise<void> {
  for (const [ending, name] of Object.entries(comparisonPictures)) {
    const picture = attachments.findLast(
      (attachment) =>
        attachment.contentType.startsWith('image/') &&
        new RegExp(`-${ending}(?:\\.\\w+)?$`).test(attachment.name),
    );
    if (picture) await copyScreenshot({ kind: 'file', path: picture.path }, folder, name);
  }
}

function readPicture(path: string): Buffer {
  const { size } = statSync(path);
  if (size > bounds.screenshot) throw new Error(`the picture of ${size} bytes is too large`);
  return readFileSync(path);
}
