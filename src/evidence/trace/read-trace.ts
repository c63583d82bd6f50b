import type { ZipFile } from 'yauzl';
import { hasFailed, type NetworkEntry } from '../../core/evidence.js';
import { bounds } from '../bounds.js';
import type { EvidenceLimits, PageEvidence } from '../page-evidence.js';
import { firstLineOf, type MissingEvidence } from '../missing-evidence.js';
import { jsonOf } from '../../json-of.js';
import { ariaYaml } from './aria-tree.js';
import { eachBoundedLine } from './bounded-lines.js';
import type { TraceRequest } from './har-request.js';
import { TraceReading } from './trace-reading.js';
import { entriesOf, firstBytes, inflated, TooMuchInflated, withZip } from './trace-zip.js';

/** A trace file, how much to keep of it, and where to report what is missing or was cut. */
interface TraceSource {
  readonly file: string;
  readonly limits: EvidenceLimits;
  readonly missing: MissingEvidence;
}

/**
 * Reads console, page errors, requests, the last screenshot and the accessibility tree from a Playwright trace of format
 * 7 to 10; memory use does not depend on its size. Rejects if the file is not a zip or is truncated; reports other
 * problems in `missing`.
 */
export async function readTrace(source: TraceSource): Promise<PageEvidence> {
  const { file, limits, missing } = source;
  const reading = new TraceReading(limits);
  await withZip(file, (zip) => readLines(zip, reading, missing));
  const requests = reading.network.take();
  saySoOf(reading, requests.length, missing);
  // Opens the file a second time: only now is it known which of its thousands of resources are needed.
  return withZip(file, async (zip) => {
    const resources = await openResources(zip, wantedFiles(reading, requests), missing);
    return pageEvidence({ reading, requests, resources, missing });
  });
}

async function readLines(zip: ZipFile, reading: TraceReading, missing: MissingEvidence): Promise<void> {
  const entries = await entriesOf(zip, (name) => name.endsWith('.trace') || name.endsWith('.network'));
  if (entries.length === 0) throw new Error('there is no trace in the zip');
  let left: number = bounds.traceInflated;
  for (const { name, entry } of entries) {
    const share = Math.min(left, plausibleSize(entry.compressedSize));
    try {
      await eachBoundedLine(inflated(zip, entry, share), bounds.traceLine, reading.take);
    } catch (error) {
      const sentence = `${name} of the trace was only partly read: ${firstLineOf(error)}`;
      if (error instanceof TooMuchInflated) missing.cut(sentence);
      else missing.miss(sentence);
    }
    left -= Math.min(share, entry.uncompressedSize);
  }
}

/**
 * A trace's JSON compresses to between a tenth and a fiftieth, a zip bomb to about a thousandth; this limit stops a bomb
 * early.
 */
function plausibleSize(compressedBytes: number): number {
  return Math.max(64 * 1024 * 1024, compressedBytes * 200);
}

function saySoOf(reading: TraceReading, requests: number, missing: MissingEvidence): void {
  if (reading.unknownVersion !== null) {
    missing.miss(`possibly parts of the trace: its format version ${reading.unknownVersion} is unknown`);
  }
  if (reading.lostLines > 0)
    missing.cut(`${reading.lostLines} entries of the trace were too long or incomplete`);
  if (requests < reading.network.pushed) {
    missing.cut(`${requests} of ${reading.network.pushed} requests were kept`);
  }
}

/** Reads only the bodies of failed requests; the others are many and tell little. */
function bodyFilesOf(request: TraceRequest): (string | null)[] {
  return hasFailed(request) ? [request.requestBodyFile, request.responseBodyFile] : [];
}

function wantedFiles(reading: TraceReading, requests: readonly TraceRequest[]): ReadonlySet<string | null> {
  return new Set([reading.frameFile, reading.ariaFile, ...requests.flatMap(bodyFilesOf)]);
}

/** Reads the first `maxBytes` of a resource; null if it is missing, or if it is unreadable, which is then reported. */
type ReadResource = (name: string | null, maxBytes: number) => Promise<Buffer | null>;

async function openResources(
  zip: ZipFile,
  wanted: ReadonlySet<string | null>,
  missing: MissingEvidence,
): Promise<ReadResource> {
  const entries = new Map(
    (await entriesOf(zip, (name) => wanted.has(name))).map(({ name, entry }) => [name, entry]),
  );
  return async (name, maxBytes) => {
    const entry = name === null ? undefined : entries.get(name);
    if (!entry) return null;
    return missing.attempt(`${name} of the trace`, () => firstBytes(zip, entry, maxBytes));
  };
}

interface Gathered {
  readonly reading: TraceReading;
  readonly requests: readonly TraceRequest[];
  readonly resources: ReadResource;
  readonly missing: MissingEvidence;
}

async function pageEvidence({ reading, requests, resources, missing }: Gathered): Promise<PageEvidence> {
  const network: NetworkEntry[] = [];
  for (const request of requests) network.push(await withBodies(request, resources));
  const frame = await resources(reading.frameFile, bounds.screenshot);
  const aria = await resources(reading.ariaFile, bounds.ariaSnapshot * 16);
  const tree = aria === null ? undefined : jsonOf(aria.toString('utf8'));
  return {
    console: reading.console.take(missing),
    network,
    screenshot: frame === null ? null : { kind: 'bytes', bytes: frame },
    noScreenshotBecause: 'the trace contains no picture',
    ariaSnapshot: tree === undefined ? null : ariaYaml(tree),
    pageUrl: reading.pageUrl,
  };
}

async function withBodies(request: TraceRequest, resources: ReadResource): Promise<NetworkEntry> {
  const [requestFile, responseFile] = bodyFilesOf(request);
  const sent = await resources(requestFile ?? null, bounds.body * 4);
  const answered = await resources(responseFile ?? null, bounds.body * 4);
  const { requestBodyFile: _sent, responseBodyFile: _answered, ...entry } = request;
  return {
    ...entry,
    requestBody: sent?.toString('utf8') ?? request.requestBody,
    responseBody: answered?.toString('utf8') ?? request.responseBody,
  };
}
