import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { bounds } from './bounds.js';
import { ConsoleSelection } from './console-selection.js';
import { consoleEntry, networkEntry, pageElement, text, textOrNull } from './entry-shapes.js';
import { NetworkSelection } from './network-selection.js';
import type { EvidenceLimits, PageEvidence } from './page-evidence.js';
import type { MissingEvidence } from './missing-evidence.js';
import { jsonOf } from '../json-of.js';

const page = z.object({
  url: text,
  screenshot: textOrNull,
  ariaSnapshot: textOrNull,
  error: textOrNull,
  covered: textOrNull,
  elements: z.array(pageElement).nullable().catch(null),
});
const count = z.number().catch(0);

/** A `CaptureFile`. */
const captureShape = z.object({
  schemaVersion: z.literal(1),
  console: z.array(consoleEntry).catch([]),
  network: z.array(networkEntry).catch([]),
  pages: z.array(page).catch([]),
  scripts: z.array(z.object({ url: text, file: text, map: textOrNull })).catch([]),
  dropped: z.object({ console: count, network: count }).catch({ console: 0, network: 0 }),
});

/** Reads a capture file. Rejects if it cannot be read, exceeds the bound or is not a capture. */
export async function readCapture(
  file: string,
  limits: EvidenceLimits,
  missing: MissingEvidence,
): Promise<PageEvidence> {
  // Synchronous: with hundreds of captures, each would wait for the thread pool several times.
  const { size } = statSync(file);
  if (size > bounds.capture) throw new Error(`the capture of ${size} bytes is too large`);
  const read = captureShape.safeParse(jsonOf(readFileSync(file, 'utf8')));
  if (!read.success) throw new Error('it is not a capture file of schema version 1');
  const { pages, scripts, dropped, ...entries } = read.data;
  const [console, network] = [new ConsoleSelection(limits.console), new NetworkSelection(limits.network)];
  entries.console.forEach((entry) => console.push(entry));
  entries.network.forEach((entry) => network.push(entry));
  const requests = network.take();
  const total = network.pushed + dropped.network;
  if (requests.length < total) missing.cut(`${requests.length} of ${total} requests were kept`);
  // The page that most likely failed: the first that is not blank, since popups come later.
  const lead = pages.find(({ url }) => url !== 'about:blank' && url !== '') ?? pages[0] ?? null;
  if (lead?.error && lead.screenshot !== null) missing.miss(`of the page ${lead.url}: ${lead.error}`);
  return {
    console: console.take(missing, dropped.console),
    network: requests,
    screenshot: lead?.screenshot ? { kind: 'file', path: lead.screenshot } : null,
    noScreenshotBecause: lead === null ? 'no page was open when the test failed' : lead.error,
    ariaSnapshot: lead?.ariaSnapshot ?? null,
    pageUrl: lead?.url ?? null,
    elements: lead?.elements ?? null,
    covered: pages.find(({ covered }) => covered !== null)?.covered ?? null,
    scripts,
  };
}
