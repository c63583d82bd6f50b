import { readFileSync, statSync } from 'node:fs';
import { captureShape } from '../playwright/capture-format.js';
import { bounds } from './bounds.js';
import { ConsoleSelection } from './console-selection.js';
import { NetworkSelection } from './network-selection.js';
import type { EvidenceLimits, PageEvidence } from './page-evidence.js';
import type { MissingEvidence } from './missing-evidence.js';
import { jsonOf } from '../json-of.js';

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
