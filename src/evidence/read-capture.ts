import { createReadStream } from 'node:fs';
import type { ConsoleEntry, NetworkEntry, PageElement } from '../core/evidence.js';
import type { CapturedPage, CapturedScript } from '../playwright/capture-format.js';
import { bounds } from './bounds.js';
import { ConsoleSelection } from './console-selection.js';
import { eachJsonMember } from './json-members.js';
import { NetworkSelection } from './network-selection.js';
import type { EvidenceLimits, PageEvidence } from './page-evidence.js';
import type { MissingEvidence } from './missing-evidence.js';
import { field, listOf, numberOr, parseJson, stringOr } from './unknown-fields.js';

interface CaptureReading {
  readonly console: ConsoleSelection;
  readonly network: NetworkSelection<NetworkEntry>;
  readonly pages: CapturedPage[];
  readonly scripts: CapturedScript[];
  schemaVersion: unknown;
  dropped: unknown;
  unreadable: number;
}

const maxPages = 20;
const maxScripts = 100;

/**
 * Reads a capture file of any size in bounded memory. A torn file gives what it holds, and says so in `missing`.
 * Rejects where the file cannot be read or is no capture.
 */
export async function readCapture(
  file: string,
  limits: EvidenceLimits,
  missing: MissingEvidence,
): Promise<PageEvidence> {
  const reading: CaptureReading = {
    console: new ConsoleSelection(limits.console),
    network: new NetworkSelection(limits.network),
    pages: [],
    scripts: [],
    schemaVersion: undefined,
    dropped: undefined,
    unreadable: 0,
  };
  const end = await eachJsonMember(createReadStream(file), bounds.captureEntry, ({ key, json }) =>
    readMember(reading, key, json),
  );
  if (reading.schemaVersion !== 1) throw new Error('it is not a capture file of schema version 1');
  if (!end.complete) missing.miss('the capture ends early: the worker ended while it wrote it');
  if (end.tooLong > 0) missing.cut(`${end.tooLong} entries of the capture were too long to be read`);
  if (reading.unreadable > 0) missing.miss(`${reading.unreadable} entries of the capture are unreadable`);
  return evidenceOf(reading, missing);
}

function readMember(reading: CaptureReading, key: string, json: string): void {
  const value = parseJson(json);
  if (value === undefined) reading.unreadable += 1;
  else if (key === 'console') reading.console.push(consoleEntryOf(value));
  else if (key === 'network') reading.network.push(networkEntryOf(value));
  else if (key === 'pages' && reading.pages.length < maxPages) reading.pages.push(pageOf(value));
  else if (key === 'scripts' && reading.scripts.length < maxScripts) reading.scripts.push(scriptOf(value));
  else if (key === 'schemaVersion') reading.schemaVersion = value;
  else if (key === 'dropped') reading.dropped = value;
}

function evidenceOf(reading: CaptureReading, missing: MissingEvidence): PageEvidence {
  const page = leadPage(reading.pages);
  const requests = reading.network.take();
  const total = reading.network.pushed + numberOr(field(reading.dropped, 'network'), 0);
  if (requests.length < total) missing.cut(`${requests.length} of ${total} requests were kept`);
  if (page?.error && page.screenshot !== null) missing.miss(`of the page ${page.url}: ${page.error}`);
  return {
    console: reading.console.take(missing, numberOr(field(reading.dropped, 'console'), 0)),
    network: requests,
    screenshot: page?.screenshot ? { kind: 'file', path: page.screenshot } : null,
    noScreenshotBecause: page === null ? 'no page was open at the failure' : page.error,
    ariaSnapshot: page?.ariaSnapshot ?? null,
    pageUrl: page?.url ?? null,
    elements: page?.elements ?? null,
    covered: reading.pages.find(({ covered }) => covered !== null)?.covered ?? null,
    scripts: reading.scripts,
  };
}

/** The page that most likely failed: the first that shows anything, since popups come later. */
function leadPage(pages: readonly CapturedPage[]): CapturedPage | null {
  return pages.find((page) => page.url !== 'about:blank' && page.url !== '') ?? pages[0] ?? null;
}

function consoleEntryOf(value: unknown): ConsoleEntry {
  return {
    time: numberOr(field(value, 'time'), 0),
    type: stringOr(field(value, 'type'), 'log'),
    text: stringOr(field(value, 'text'), ''),
    location: stringOr(field(value, 'location'), ''),
    stack: stringOr(field(value, 'stack'), null),
  };
}

function networkEntryOf(value: unknown): NetworkEntry {
  return {
    time: numberOr(field(value, 'time'), 0),
    method: stringOr(field(value, 'method'), ''),
    url: stringOr(field(value, 'url'), ''),
    resourceType: stringOr(field(value, 'resourceType'), ''),
    status: numberOr(field(value, 'status'), null),
    durationMs: numberOr(field(value, 'durationMs'), null),
    failure: stringOr(field(value, 'failure'), null),
    requestHeaders: headersOf(field(value, 'requestHeaders')),
    responseHeaders: headersOf(field(value, 'responseHeaders')),
    requestBody: stringOr(field(value, 'requestBody'), null),
    responseBody: stringOr(field(value, 'responseBody'), null),
  };
}

function headersOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || listOf(value).length > 0) return {};
  const entries = Object.entries(value).slice(0, bounds.headerCount + 1);
  return Object.fromEntries(entries.map(([name, text]) => [name, stringOr(text, '')]));
}

function pageOf(value: unknown): CapturedPage {
  return {
    url: stringOr(field(value, 'url'), ''),
    screenshot: stringOr(field(value, 'screenshot'), null),
    ariaSnapshot: stringOr(field(value, 'ariaSnapshot'), null),
    error: stringOr(field(value, 'error'), null),
    covered: stringOr(field(value, 'covered'), null),
    elements: elementsOf(field(value, 'elements')),
  };
}

function elementsOf(value: unknown): PageElement[] | null {
  if (!Array.isArray(value)) return null;
  return value.map((element) => ({
    tag: stringOr(field(element, 'tag'), ''),
    text: stringOr(field(element, 'text'), ''),
    label: stringOr(field(element, 'label'), ''),
    attributes: headersOf(field(element, 'attributes')),
  }));
}

function scriptOf(value: unknown): CapturedScript {
  return {
    url: stringOr(field(value, 'url'), ''),
    file: stringOr(field(value, 'file'), ''),
    map: stringOr(field(value, 'map'), null),
  };
}
