import type { ZipFile } from 'yauzl';
import {
  type NetworkEntry,
  type PageElement,
  type TestStep,
  hasFailed,
  unanswered,
} from '../../model/evidence.js';
import { graphQlFailure } from '../../diagnose/graphql-errors.js';
import { bounds, type EvidenceNotes, firstLineOf } from '../bounded-text.js';
import type { EvidenceLimits, PageEvidence } from '../page-evidence.js';
import {
  eachBoundedLine,
  entriesOf,
  firstBytes,
  inflated,
  TooMuchInflated,
  withZip,
} from '../../playwright/zip.js';
import { type DomElement, cleanPage, labelsIn, nodeText } from './dom.js';
import type { TraceRequest } from './har-request.js';
import { withoutFilled } from './masked-trace.js';
import { TraceReading } from './trace-reading.js';

/** A trace file, how much to keep of it, and where to report what is missing or was cut. */
export interface TraceSource {
  readonly file: string;
  readonly limits: EvidenceLimits;
  readonly missing: EvidenceNotes;
  /** `Redactor.learn`, before anything is cleaned. */
  readonly learn?: ((typed: Iterable<string>) => void) | undefined;
}

/**
 * Reads console, page errors, requests, the page at the failure and its picture from a Playwright trace of format 7 to 10; memory use
 * does not depend on its size. Rejects if the file is not a zip or is truncated; reports other problems in `missing`.
 */
export async function readTrace(source: TraceSource): Promise<PageEvidence> {
  const { file, missing } = source;
  const { reading, requests } = await readLinesOf(source);
  const page = reading.pages.after();
  source.learn?.(reading.typed);
  // Opens the file a second time: only now is it known which of its thousands of resources are needed.
  return withZip(file, async (zip) => {
    const read = withBodiesRead(requests);
    const bodies = [...read].flatMap((request) => [request.requestBodyFile, request.responseBodyFile]);
    const resources = await openResources(zip, new Set([reading.pictureFile, ...bodies]), missing);
    const network: NetworkEntry[] = [];
    for (const request of requests)
      network.push(asAnswered(await withBodies(request, read.has(request) ? resources : null), reading));
    const picture = await resources(reading.pictureFile, bounds.screenshot);
    return {
      steps: stepsOf(reading, missing),
      console: reading.console.take(missing),
      network,
      screenshot: picture === null ? null : { kind: 'bytes', bytes: picture },
      pageUrl: page?.url ?? null,
      elements: page && pageElements(cleanPage(page.root, missing.clean)),
      log: reading.actions.failing()?.log ?? [],
    };
  });
}

/** Reads everything that a trace says in lines, without its resources. */
export async function readLinesOf({
  file,
  limits,
  missing,
}: TraceSource): Promise<{ readonly reading: TraceReading; readonly requests: readonly TraceRequest[] }> {
  const reading = new TraceReading(limits);
  await withZip(file, (zip) => readLines(zip, reading, missing));
  const requests = reading.network.take();
  reportLosses(reading, requests.length, missing);
  return { reading, requests };
}

async function readLines(zip: ZipFile, reading: TraceReading, missing: EvidenceNotes): Promise<void> {
  const entries = await entriesOf(zip, (name) => name.endsWith('.trace') || name.endsWith('.network'));
  if (entries.length === 0) throw new Error('there is no trace in the zip');
  let remaining: number = bounds.traceInflated;
  const isOfTest = ({ name }: { name: string }) => name === 'test.trace';
  for (const { name, entry } of entries.toSorted((a, b) => Number(isOfTest(b)) - Number(isOfTest(a)))) {
    const share = Math.min(remaining, plausibleSize(entry.compressedSize));
    try {
      await eachBoundedLine(inflated(zip, entry, share), bounds.traceLine, reading.take);
    } catch (error) {
      const sentence = `${name} of the trace was only partly read: ${firstLineOf(error)}`;
      if (error instanceof TooMuchInflated) missing.cut(sentence);
      else missing.miss(sentence);
    }
    remaining -= Math.min(share, entry.uncompressedSize);
  }
}

/**
 * A trace's JSON compresses to between a tenth and a fiftieth, a zip bomb to about a thousandth; this limit stops a bomb
 * early.
 */
function plausibleSize(compressedBytes: number): number {
  return Math.max(64 * 1024 * 1024, compressedBytes * 200);
}

function reportLosses(reading: TraceReading, requests: number, missing: EvidenceNotes): void {
  if (reading.unknownVersion !== null) {
    missing.miss(`possibly parts of the trace: its format version ${reading.unknownVersion} is unknown`);
  }
  const lost = reading.lostLines + reading.pages.lost;
  if (lost > 0) missing.cut(`${lost} entries of the trace were too long or incomplete`);
  if (requests < reading.network.pushed) {
    missing.cut(`${requests} of ${reading.network.pushed} requests were kept`);
  }
}

const calls = new Set(['fetch', 'xhr', 'api']);
/** How many of the latest calls that did not fail have their bodies read, too. */
const latestBodies = 10;

/** Whether a call goes to an endpoint that is named after GraphQL: only its body says whether it failed. */
function isGraphQl({ url, resourceType }: NetworkEntry): boolean {
  return calls.has(resourceType) && /graphql|gql/i.test(url);
}

/** Returns the requests whose bodies are read. The other bodies are many and tell little. */
function withBodiesRead(requests: readonly TraceRequest[]): ReadonlySet<TraceRequest> {
  const latest = requests.filter(({ resourceType }) => calls.has(resourceType)).slice(-latestBodies);
  const isForm = ({ method, resourceType }: TraceRequest) => resourceType === 'document' && method !== 'GET';
  const telling = requests.filter(
    (request) =>
      hasFailed(request) || request.resourceType === 'api' || isGraphQl(request) || isForm(request),
  );
  return new Set([...telling, ...latest]);
}

/** Reads the first `maxBytes` of a resource; null if it is missing, or if it is unreadable, which is then reported. */
type ReadResource = (name: string | null, maxBytes: number) => Promise<Buffer | null>;

async function openResources(
  zip: ZipFile,
  wanted: ReadonlySet<string | null>,
  missing: EvidenceNotes,
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

async function withBodies(request: TraceRequest, resources: ReadResource | null): Promise<NetworkEntry> {
  const { requestBodyFile, responseBodyFile, ...entry } = request;
  if (resources === null) return entry;
  const sent = await resources(requestBodyFile, bounds.body * 4);
  const answered = await resources(responseBodyFile, bounds.body * 4);
  return {
    ...entry,
    requestBody: sent?.toString('utf8') ?? request.requestBody,
    responseBody: answered?.toString('utf8') ?? request.responseBody,
  };
}

/** How many steps are kept, and how many lines of what each did. */
const most = { steps: 100, log: 12 };
/** A step that took longer tells what it waited for. */
const longMs = 1_000;

/** Returns the last steps of the test's own code, without the steps that Playwright adds for hooks and fixtures. */
function stepsOf({ actions, typed }: TraceReading, missing: EvidenceNotes): TestStep[] {
  const failing = actions.failing();
  const own = actions.all.filter(
    ({ kind, at }) => !actions.isOfTest || (at !== null && /^(?:pw:api|expect|test\.step|hook)$/.test(kind)),
  );
  if (own.length > most.steps) missing.cut(`${most.steps} of ${own.length} steps were kept`);
  return own.slice(-most.steps).map((action) => {
    const { title, at, startedAt: time, endedAt, error } = action;
    const durationMs = endedAt === null ? null : endedAt - time;
    const isTold = action === failing || (durationMs ?? longMs) >= longMs;
    return {
      time,
      durationMs,
      title: withoutFilled(title, typed),
      at: at === null ? '' : `${at.file}:${at.line}`,
      error: error && withoutFilled(error, typed),
      log: isTold ? action.log.slice(-most.log).map((line) => withoutFilled(line, typed)) : [],
      ...(action === failing ? { isFailing: true as const } : {}),
    };
  });
}

/** A call that has been open for longer than this when its test fails counts as failed. */
const patienceMs = 1000;

/** Returns a request with how it failed although it has no error status: no answer in time, an error within the answer, a page for a script. */
function asAnswered(entry: NetworkEntry, { actions, lastTime }: TraceReading): NetworkEntry {
  const { status, failure, resourceType } = entry;
  if (failure !== null) return entry;
  const isAwaited = calls.has(resourceType) || resourceType === 'document';
  if (status === null) {
    const end = actions.failing()?.endedAt ?? lastTime;
    return isAwaited && end - entry.time > patienceMs ? { ...entry, failure: unanswered } : entry;
  }
  const isPage = /^text\/html\b/i.test(entry.responseHeaders['content-type'] ?? '');
  const within =
    resourceType === 'script' && status < 300 && isPage
      ? `${status} with text/html in place of a script`
      : isGraphQl(entry)
        ? graphQlFailure(status, entry.responseBody)
        : null;
  return within === null ? entry : { ...entry, status: null, failure: within };
}

/** A page with more elements is not read at all: a partial list could not prove that an element is absent. */
const mostElements = 800;
const longestText = 80;
const mostAttributes = 12;
const named = /^(?:id|class|name|type|role|title|alt|placeholder|href|for|aria-label|data-.+)$/;
const unseen = /^(?:script|style|template|meta|link|base|head|html|title|noscript|iframe)$/;

/** Returns the parts of a page's elements that locators can match, without typed values and iframes; null if there are too many elements. */
function pageElements(root: DomElement): PageElement[] | null {
  const labels = labelsIn(root);
  const elements: PageElement[] = [];
  const look = (element: DomElement, around: string): void => {
    const label = element.tag === 'label' ? short(nodeText(element)) : around;
    const isCustom = element.tag.includes('-');
    const attributes = Object.entries(element.attributes).filter(([name]) => isCustom || named.test(name));
    const text = short(element.children.filter((child) => typeof child === 'string').join(' '));
    if ((attributes.length > 0 || text !== '' || isCustom) && !unseen.test(element.tag))
      elements.push({
        tag: element.tag,
        text,
        label:
          labels.get(element.attributes['id'] ?? '')?.slice(0, longestText) ??
          (/^(?:input|select|textarea|button)$/.test(element.tag) ? around : ''),
        attributes: Object.fromEntries(
          attributes.slice(0, mostAttributes).map(([name, value]) => [name, value.slice(0, 2 * longestText)]),
        ),
      });
    if (element.tag === 'iframe') return;
    for (const child of element.children) if (typeof child !== 'string') look(child, label);
  };
  look(root, '');
  return elements.length > mostElements ? null : elements;
}

function short(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longestText);
}
