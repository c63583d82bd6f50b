import type { ZipFile } from 'yauzl';
import {
  type NetworkEntry,
  type PageElement,
  type TestStep,
  hasFailed,
  unanswered,
} from '../../model/evidence.js';
import { findGraphQlFailure } from '../../diagnose/graphql-errors.js';
import { bounds, type EvidenceNotes, readFirstLine } from '../bounded-text.js';
import type { EvidenceLimits, PageEvidence } from '../page-evidence.js';
import {
  readBoundedLines,
  listEntries,
  readFirstBytes,
  inflate,
  InflateLimitError,
  withZip,
} from '../../playwright/zip.js';
import { type DomElement, cleanPage, readLabels, readNodeText } from './dom.js';
import type { TraceRequest } from './har-request.js';
import { maskFilledText } from './masked-trace.js';
import { TraceReading } from './trace-reading.js';

/** A trace file, how much of it to keep, and the notes on missing and shortened parts. */
export interface TraceSource {
  readonly file: string;
  readonly limits: EvidenceLimits;
  readonly notes: EvidenceNotes;
  /** `Redactor.learn`, before anything is cleaned. */
  readonly learn?: ((typed: Iterable<string>) => void) | undefined;
}

/**
 * Reads console, page errors, requests, and the page and screenshot at the failure from a Playwright trace of format 7 to 10. Memory use does not
 * depend on its size. Rejects if the file is not a zip or is truncated; notes other problems.
 */
export async function readTrace(source: TraceSource): Promise<PageEvidence> {
  const { file, notes } = source;
  const { reading, requests } = await readTraceLines(source);
  const page = reading.pages.findPageAtFailure();
  source.learn?.(reading.typed);
  // Opens the file a second time, because only its lines show which of its thousands of resources are needed.
  return withZip(file, async (zip) => {
    const requestsToRead = chooseRequestsToRead(requests);
    const bodies = [...requestsToRead].flatMap((request) => [
      request.requestBodyFile,
      request.responseBodyFile,
    ]);
    const resources = await openResources(zip, new Set([reading.pictureFile, ...bodies]), notes);
    const network: NetworkEntry[] = [];
    for (const request of requests)
      network.push(
        markHiddenFailure(await addBodies(request, requestsToRead.has(request) ? resources : null), reading),
      );
    const picture = await resources(reading.pictureFile, bounds.screenshot);
    return {
      steps: listSteps(reading, notes),
      console: reading.console.selectEntries(notes),
      network,
      screenshot: picture === null ? null : { kind: 'bytes', bytes: picture },
      pageUrl: page?.url ?? null,
      elements: page && listElements(cleanPage(page.root, notes.clean)),
      log: reading.actions.findFailingAction()?.log ?? [],
    };
  });
}

/** Reads the lines of a trace, without its resources. */
export async function readTraceLines({
  file,
  limits,
  notes,
}: TraceSource): Promise<{ readonly reading: TraceReading; readonly requests: readonly TraceRequest[] }> {
  const reading = new TraceReading(limits);
  await withZip(file, (zip) => readLines(zip, reading, notes));
  const requests = reading.network.selectEntries();
  noteLosses(reading, requests.length, notes);
  return { reading, requests };
}

async function readLines(zip: ZipFile, reading: TraceReading, notes: EvidenceNotes): Promise<void> {
  const entries = await listEntries(zip, (name) => name.endsWith('.trace') || name.endsWith('.network'));
  if (entries.length === 0) throw new Error('there is no trace in the zip');
  let remaining: number = bounds.traceInflated;
  const isTestTrace = ({ name }: { name: string }) => name === 'test.trace';
  for (const { name, entry } of entries.toSorted((a, b) => Number(isTestTrace(b)) - Number(isTestTrace(a)))) {
    const share = Math.min(remaining, estimateMaxSize(entry.compressedSize));
    try {
      await readBoundedLines(inflate(zip, entry, share), bounds.traceLine, reading.readLine);
    } catch (error) {
      const sentence = `${name} in the trace was only partly read: ${readFirstLine(error)}`;
      if (error instanceof InflateLimitError) notes.noteCut(sentence);
      else notes.noteMissing(sentence);
    }
    remaining -= Math.min(share, entry.uncompressedSize);
  }
}

/** Returns the largest plausible size of a trace's text, to stop zip bombs early: JSON shrinks to a tenth or a fiftieth, a bomb to about a thousandth. */
function estimateMaxSize(compressedBytes: number): number {
  return Math.max(64 * 1024 * 1024, compressedBytes * 200);
}

function noteLosses(reading: TraceReading, requests: number, notes: EvidenceNotes): void {
  if (reading.unknownVersion !== null) {
    notes.noteMissing(
      `perhaps parts of the trace: self-heal does not know its format version ${reading.unknownVersion}`,
    );
  }
  const lost = reading.lostLines + reading.pages.lostSnapshots;
  if (lost > 0) notes.noteCut(`${lost} entries of the trace were too long or incomplete`);
  if (requests < reading.network.pushed) {
    notes.noteCut(`${requests} of ${reading.network.pushed} requests were kept`);
  }
}

const calls = new Set(['fetch', 'xhr', 'api']);
/** The bodies of this many latest calls are read even if the calls succeeded. */
const LATEST_BODIES = 10;

/** True for a call to a GraphQL endpoint, judging by its name; only its body shows whether it failed. */
function isGraphQl({ url, resourceType }: NetworkEntry): boolean {
  return calls.has(resourceType) && /graphql|gql/i.test(url);
}

/** Returns the requests whose bodies are worth reading. */
function chooseRequestsToRead(requests: readonly TraceRequest[]): ReadonlySet<TraceRequest> {
  const latest = requests.filter(({ resourceType }) => calls.has(resourceType)).slice(-LATEST_BODIES);
  const isForm = ({ method, resourceType }: TraceRequest) => resourceType === 'document' && method !== 'GET';
  const mostUseful = requests.filter(
    (request) =>
      hasFailed(request) || request.resourceType === 'api' || isGraphQl(request) || isForm(request),
  );
  return new Set([...mostUseful, ...latest]);
}

/** Reads the first `maxBytes` of a resource; null if it is missing, or unreadable, which is then noted. */
type ReadResource = (name: string | null, maxBytes: number) => Promise<Buffer | null>;

async function openResources(
  zip: ZipFile,
  wanted: ReadonlySet<string | null>,
  notes: EvidenceNotes,
): Promise<ReadResource> {
  const entries = new Map(
    (await listEntries(zip, (name) => wanted.has(name))).map(({ name, entry }) => [name, entry]),
  );
  return async (name, maxBytes) => {
    const entry = name === null ? undefined : entries.get(name);
    if (!entry) return null;
    return notes.tryGather(`${name} in the trace`, () => readFirstBytes(zip, entry, maxBytes));
  };
}

async function addBodies(request: TraceRequest, resources: ReadResource | null): Promise<NetworkEntry> {
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

/** How many steps to keep, and how many log lines of each step. */
const MAX_KEPT = { steps: 100, log: 12 };
/** The log of a step that took longer is kept: it shows what the step waited for. */
const LONG_STEP_MS = 1_000;

/** Returns the last steps of the test's own code, without the steps that Playwright adds for hooks and fixtures. */
function listSteps({ actions, typed }: TraceReading, notes: EvidenceNotes): TestStep[] {
  const failing = actions.findFailingAction();
  const ownSteps = actions.all.filter(
    ({ kind, at }) =>
      !actions.hasTestSteps || (at !== null && /^(?:pw:api|expect|test\.step|hook)$/.test(kind)),
  );
  if (ownSteps.length > MAX_KEPT.steps)
    notes.noteCut(`${MAX_KEPT.steps} of ${ownSteps.length} steps were kept`);
  return ownSteps.slice(-MAX_KEPT.steps).map((action) => {
    const { title, at, startedAt: time, endedAt, error } = action;
    const durationMs = endedAt === null ? null : endedAt - time;
    const needsLog = action === failing || (durationMs ?? LONG_STEP_MS) >= LONG_STEP_MS;
    return {
      time,
      durationMs,
      title: maskFilledText(title, typed),
      at: at === null ? '' : `${at.file}:${at.line}`,
      error: error && maskFilledText(error, typed),
      log: needsLog ? action.log.slice(-MAX_KEPT.log).map((line) => maskFilledText(line, typed)) : [],
      ...(action === failing ? { isFailing: true as const } : {}),
    };
  });
}

/** A call that has been open for longer than this when its test fails counts as failed. */
const UNANSWERED_AFTER_MS = 1000;

/** Marks a request that failed without an error status: no response in time, a GraphQL error, or a page in place of a script. */
function markHiddenFailure(entry: NetworkEntry, { actions, lastTime }: TraceReading): NetworkEntry {
  const { status, failure, resourceType } = entry;
  if (failure !== null) return entry;
  const isAwaited = calls.has(resourceType) || resourceType === 'document';
  if (status === null) {
    const end = actions.findFailingAction()?.endedAt ?? lastTime;
    return isAwaited && end - entry.time > UNANSWERED_AFTER_MS ? { ...entry, failure: unanswered } : entry;
  }
  const isPage = /^text\/html\b/i.test(entry.responseHeaders['content-type'] ?? '');
  const hiddenFailure =
    resourceType === 'script' && status < 300 && isPage
      ? `${status} with text/html in place of a script`
      : isGraphQl(entry)
        ? findGraphQlFailure(status, entry.responseBody)
        : null;
  return hiddenFailure === null ? entry : { ...entry, status: null, failure: hiddenFailure };
}

/** The elements of a larger page are not listed, because a partial list could not prove that an element is absent. */
const MAX_ELEMENTS = 800;
const MAX_TEXT = 80;
const MAX_ATTRIBUTES = 12;
const matchableAttribute = /^(?:id|class|name|type|role|title|alt|placeholder|href|for|aria-label|data-.+)$/;
const invisibleTag = /^(?:script|style|template|meta|link|base|head|html|title|noscript|iframe)$/;

/** Lists the elements on a page with the parts that locators can match, without values and iframes; null if there are too many. */
function listElements(root: DomElement): PageElement[] | null {
  const labels = readLabels(root);
  const elements: PageElement[] = [];
  const visit = (element: DomElement, around: string): void => {
    const label = element.tag === 'label' ? shorten(readNodeText(element)) : around;
    const isCustom = element.tag.includes('-');
    const attributes = Object.entries(element.attributes).filter(
      ([name]) => isCustom || matchableAttribute.test(name),
    );
    const text = shorten(element.children.filter((child) => typeof child === 'string').join(' '));
    if ((attributes.length > 0 || text !== '' || isCustom) && !invisibleTag.test(element.tag))
      elements.push({
        tag: element.tag,
        text,
        label:
          labels.get(element.attributes['id'] ?? '')?.slice(0, MAX_TEXT) ??
          (/^(?:input|select|textarea|button)$/.test(element.tag) ? around : ''),
        attributes: Object.fromEntries(
          attributes.slice(0, MAX_ATTRIBUTES).map(([name, value]) => [name, value.slice(0, 2 * MAX_TEXT)]),
        ),
      });
    if (element.tag === 'iframe') return;
    for (const child of element.children) if (typeof child !== 'string') visit(child, label);
  };
  visit(root, '');
  return elements.length > MAX_ELEMENTS ? null : elements;
}

function shorten(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}
