import { isRedirected } from './auth-redirects.js';
import { parseComplaint, findMarkedLine } from './complaint.js';
import { type Evidence, type NetworkEntry, hasFailed } from '../model/evidence.js';
import { removeEllipsis, type Reason } from '../model/diagnosis.js';
import type { DiagnosedFailure } from '../model/cause.js';
import type { TestError } from '../model/failure.js';
import { createOwnUrlCheck, getPath, splitUrl } from '../urls.js';
import { stripAnsi } from '../visible-text.js';
import { splitWords } from './named-requests.js';
import { readErrorBody, formatRequest } from './requests.js';

/** The values that an assertion compared. */
export interface ComparedValues {
  readonly expected: readonly string[];
  readonly received: readonly string[];
}

const MIN_CHARACTERS = 2;
const MAX_CHARACTERS = 80;

/** Parses the expected and received texts and numbers from Playwright's messages. */
export function parseComparedValues(errors: readonly Pick<TestError, 'message'>[]): ComparedValues {
  const lines = errors.flatMap(({ message }) => stripAnsi(message).slice(0, 8_000).split('\n'));
  const parseSide = (side: RegExp) => [
    ...new Set(lines.flatMap((line) => parseValues(side.exec(line)?.[1] ?? ''))),
  ];
  return {
    expected: parseSide(/^(?:\s*Expected[^:\n]*:|-(?! Expected))\s*(.+)$/),
    received: parseSide(/^(?:\s*Received[^:\n]*:|\+(?! Received))\s*(.+)$/),
  };
}

function parseValues(text: string): string[] {
  // Skips the field names.
  const quoted = [...text.matchAll(/"((?:[^"\\]|\\.){1,400})"(?!\s*:)/g)].map(([, value = '']) => value);
  const numbers = quoted.length > 0 ? [] : (text.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g) ?? []);
  return [...quoted, ...numbers].filter(({ length }) => length >= MIN_CHARACTERS && length <= MAX_CHARACTERS);
}

const callType = /^(?:api|fetch|xhr)$/;
const mutatingMethod = /^(?:POST|PUT|PATCH|DELETE)$/;
const emptyBody = /^\s*(?:\[\s*\]|\{\s*\}|\{[^[\]]*:\s*\[\s*\][^[\]]*\}|null)?\s*$/;
/** Parts of a URL that do not show its purpose. */
const genericWords = new Set([
  'api',
  'rest',
  'trpc',
  'json',
  'http',
  'https',
  'localhost',
  'get',
  'post',
  'put',
]);

/**
 * Returns the app's requests that most likely explain a failure: the deciding request, or the one whose response contained the deciding URL. Otherwise
 * the last request that stands out (the test names it, or its response contains the received value, contradicts its query or is empty), after the
 * last write to the same resource. Empty if no request stands out.
 */
export function chooseRelevantRequests(
  { network, errors, failedStep, pageUrl }: Pick<Evidence, 'network' | 'errors' | 'failedStep' | 'pageUrl'>,
  [reason]: readonly Reason[],
): NetworkEntry[] {
  const isOwnUrl = createOwnUrlCheck({ pageUrl, network });
  const decidingRequest =
    reason?.source === 'network'
      ? network.findLast((entry) =>
          [formatRequest(entry), readErrorBody(entry)].some((text) =>
            text.includes(removeEllipsis(reason.evidence)),
          ),
        )
      : undefined;
  if (decidingRequest && isOwnUrl(decidingRequest.url)) return [decidingRequest];
  const origin = decidingRequest && splitUrl(decidingRequest.url)?.origin;
  const namingRequest =
    origin && network.findLast((entry) => isOwnUrl(entry.url) && entry.responseBody?.includes(origin));
  if (namingRequest) return [namingRequest];
  const calls = network.filter(
    (entry) =>
      isOwnUrl(entry.url) && !entry.common && !entry.isOfServiceWorker && callType.test(entry.resourceType),
  );
  const documents = network.filter(
    (entry) => isOwnUrl(entry.url) && entry.resourceType === 'document' && !hasFailed(entry),
  );
  // If the app redirected a page, that request is the relevant one.
  const redirected = documents.filter((entry) => isRedirected(entry));
  const candidates = calls.length > 0 ? calls : redirected.length > 0 ? redirected : documents;
  const { expected, received } = parseComparedValues(errors);
  const { subject, call } = parseComplaint(errors);
  const words = splitWords([failedStep, ...errors.map(findMarkedLine), subject].filter(Boolean).join('\n'));
  // An empty response leaves something out of a page, but leads to no other page.
  const mayLackContent = !/^toHave(?:URL|Title)$/.test(call ?? '');
  const [last] = candidates.slice(-1);
  const computeScore = (entry: NetworkEntry) => {
    const body = entry.responseBody ?? '';
    const isNamed = listPathWords(entry).some((word) => words.has(word));
    return (
      (received.some((text) => !expected.includes(text) && body.includes(text)) ? 4 : 0) +
      (findContradiction(entry) === null ? 0 : 3) +
      (isNamed ? 2 : 0) +
      (mayLackContent && entry.status !== null && !mutatingMethod.test(entry.method) && hasEmptyBody(entry)
        ? 2
        : 0) +
      (entry === last ? (entry.resourceType === 'api' || calls.length === 0 ? 2 : 1) : 0)
    );
  };
  const scored = candidates.map((entry) => ({ entry, score: computeScore(entry) }));
  const best = scored.reduce<(typeof scored)[number] | null>(
    (found, one) => (found === null || one.score >= found.score ? one : found),
    null,
  );
  if (best === null || best.score < 2) return [];
  const bestWords = new Set(listPathWords(best.entry));
  const lastWrite = mutatingMethod.test(best.entry.method)
    ? undefined
    : calls
        .slice(0, calls.indexOf(best.entry))
        .findLast(
          (entry) =>
            mutatingMethod.test(entry.method) && listPathWords(entry).some((word) => bestWords.has(word)),
        );
  return [...(lastWrite ? [lastWrite] : []), best.entry];
}

/** True if a response has an empty body, or only an empty list or object; false if the body was not recorded. */
function hasEmptyBody({ responseBody, responseHeaders }: NetworkEntry): boolean {
  return responseBody === null ? responseHeaders['content-length'] === '0' : emptyBody.test(responseBody);
}

function listPathWords({ url }: NetworkEntry): string[] {
  return [...splitWords(getPath(url))].filter((word) => !genericWords.has(word));
}

/** Returns a field of a response that contradicts the request's query: `?status=pending → [{"status":"dismissed"}]`. */
export function findContradiction({ url, responseBody }: NetworkEntry): string | null {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  const fields = [...(responseBody ?? '').matchAll(/"([\w-]{1,60})":\s*"?([^",}\]]{1,80})"?/g)];
  const wrong = fields.find(([, name = '', value]) => query.has(name) && query.get(name) !== value);
  return wrong?.[0] ?? null;
}

/** Describes the visible fault in a response that an assertion checks; null if none is visible. */
export function describeWrongResponse(
  entry: NetworkEntry,
  errors: readonly Pick<TestError, 'message'>[],
): string | null {
  const contradiction = findContradiction(entry);
  if (contradiction !== null) return contradiction;
  const body = entry.responseBody ?? '';
  if (body !== '' && !mutatingMethod.test(entry.method) && emptyBody.test(body))
    return body.trim().slice(0, 60);
  const { expected, received } = parseComparedValues(errors);
  const value = received.find((text) => !expected.includes(text) && body.includes(text));
  return value === undefined ? null : clipAround(body, [value], 60);
}

/** Returns the request that a failure comes from: it failed, or its response contains the value that an assertion rejects. Null if there is none. */
export function findDecidingResponse({ failure, diagnosis, evidence }: DiagnosedFailure): string | null {
  if (failure.scope === 'suite') return null;
  const [reason] = diagnosis.why;
  const entry = chooseRelevantRequests(evidence, diagnosis.why).at(-1);
  if (!entry || entry.resourceType === 'document') return null;
  const isWrong = reason?.source === 'network' || describeWrongResponse(entry, evidence.errors) !== null;
  return isWrong ? `${entry.method} ${getPath(entry.url)}` : null;
}

/** Returns the part of a text around the first of these values, at most `room` characters, with the number of omitted characters at each end. */
export function clipAround(text: string, values: readonly string[], room: number): string {
  if (text.length <= room) return text;
  const at = values.map((value) => text.indexOf(value)).find((index) => index >= 0) ?? 0;
  const start = Math.max(0, Math.min(at - Math.floor(room / 2), text.length - room));
  const end = Math.min(text.length, start + room);
  const before = start > 0 ? `${start} characters… ` : '';
  const after = end < text.length ? `… ${text.length - end} more characters` : '';
  return `${before}${text.slice(start, end)}${after}`;
}
