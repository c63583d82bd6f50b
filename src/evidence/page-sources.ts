import { stat } from 'node:fs/promises';
import type { Attachment, TestFailure } from '../model/failure.js';
import type { PageEvidence, ScreenshotSource } from './page-evidence.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { type EvidenceNotes, bounds } from './bounded-text.js';
import { isSecretField } from '../secrets/secret-fields.js';
import { masked } from './trace/dom.js';
import { readTrace, type TraceSource } from './trace/read-trace.js';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';

/** The page of a test according to all sources; where they overlap, the best source is used. */
export interface TestPage extends PageEvidence {
  /** Playwright's accessibility snapshot of the page; null if it took none (before 1.53, or where a matcher had looked at an element). */
  readonly snapshot: string | null;
  /** Absolute path of the trace, or null. */
  readonly trace: string | null;
}

const nothing: PageEvidence = {
  steps: [],
  console: [],
  network: [],
  screenshot: null,
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
  { limits, tracing, learn }: Pick<TraceSource, 'limits' | 'learn'> & Pick<SuiteRun, 'tracing'>,
  missing: EvidenceNotes,
): Promise<TestPage> {
  const { attachments } = failure;
  const trace = await attachedTrace(attachments, missing);
  if (trace === null && tracing) missing.miss(untraced[tracing]);
  const traced =
    trace === null
      ? null
      : await missing.attempt('trace.zip is corrupt', () =>
          readTrace({ file: trace, limits, missing, learn }),
        );
  const page = traced ?? nothing;
  return {
    ...page,
    snapshot: await attachedSnapshot(attachments, missing),
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
  missing: EvidenceNotes,
): Promise<string | null> {
  const trace = attachments.findLast(({ name }) => name === 'trace');
  if (!trace) return null;
  if (await isFile(trace.path)) return trace.path;
  missing.miss('trace.zip: it is no longer where Playwright wrote it');
  return null;
}

async function attachedSnapshot(
  attachments: readonly Attachment[],
  missing: EvidenceNotes,
): Promise<string | null> {
  const context = attachments.findLast(({ name }) => name === 'error-context');
  if (!context) return null;
  return missing.attempt('error-context.md', async () =>
    pageSnapshotIn(await text(createReadStream(context.path, { end: bounds.errorContext - 1 }))),
  );
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/**
 * Extracts only the accessibility snapshot from an error-context document and leaves out Playwright's instructions to AI
 * readers (EV-10); null if it has none of the whole page.
 */
export function pageSnapshotIn(markdown: string): string | null {
  const lines = markdown.split(/\r?\n/);
  // The last match: the error's own text, which comes earlier, may contain the same line.
  const start = lines.lastIndexOf('# Page snapshot');
  const open = start < 0 ? -1 : lines.indexOf('```yaml', start);
  if (open < 0) return null;
  const close = lines.indexOf('```', open + 1);
  return withoutReferences(lines.slice(open + 1, close < 0 ? lines.length : close));
}

/**
 * Removes what Playwright adds for AI readers that drive the page (references to elements, cursors, and elements that have nothing but
 * children), and what is in fields for secrets.
 */
function withoutReferences(yaml: readonly string[]): string {
  const lines: string[] = [];
  /** The indents of the containers around a line, which are left out. */
  let dropped: number[] = [];
  for (const line of yaml) {
    const indent = line.search(/\S|$/);
    dropped = dropped.filter((container) => container < indent);
    const text = line.slice(indent).replaceAll(/ \[(?:ref=\w+|cursor=\w+|active)\]/g, '');
    if (text === '- generic:') dropped.push(indent);
    else {
      const [, field = text, label = ''] = /^(- textbox "((?:[^"\\]|\\.)*)".*?): ./.exec(text) ?? [];
      const item = isSecretField({ label }) ? `${field}: "${masked}"` : text;
      lines.push(' '.repeat(indent - 2 * dropped.length) + item.replace(/^- generic: /, '- text: '));
    }
  }
  return lines.join('\n');
}

const pictures: readonly { extension: string; begins: readonly number[] }[] = [
  { extension: 'png', begins: [0x89, 0x50, 0x4e, 0x47] },
  { extension: 'jpg', begins: [0xff, 0xd8, 0xff] },
  { extension: 'webp', begins: [0x52, 0x49, 0x46, 0x46] },
];

/**
 * Writes a picture into `folder`, by default as `screenshot.png` (or `.jpg`, `.webp`, according to its first bytes) and returns
 * the path. Rejects if it cannot be read, exceeds the bound or is not a picture.
 */
export async function keepScreenshot(
  source: ScreenshotSource,
  folder: string,
  name = 'screenshot',
): Promise<string> {
  const bytes = source.kind === 'bytes' ? source.bytes : readPicture(source.path);
  const kind = pictures.find(({ begins }) => begins.every((byte, at) => bytes[at] === byte));
  if (!kind) throw new Error('the file is not a picture');
  const path = join(folder, `${name}.${kind.extension}`);
  writeFileSync(path, bytes);
  return path;
}

/** The pictures of a screenshot comparison, as Playwright names its attachments and as they are kept. */
const compared = { expected: 'expected', actual: 'actual', diff: 'difference' } as const;

/** Keeps the pictures of a failed screenshot comparison beside the screenshot. */
export async function keepComparison(attachments: readonly Attachment[], folder: string): Promise<void> {
  for (const [ending, name] of Object.entries(compared)) {
    const picture = attachments.findLast(
      (attachment) =>
        attachment.contentType.startsWith('image/') &&
        new RegExp(`-${ending}(?:\\.\\w+)?$`).test(attachment.name),
    );
    if (picture) await keepScreenshot({ kind: 'file', path: picture.path }, folder, name);
  }
}

function readPicture(path: string): Buffer {
  const { size } = statSync(path);
  if (size > bounds.screenshot) throw new Error(`the picture of ${size} bytes is too large`);
  return readFileSync(path);
}
