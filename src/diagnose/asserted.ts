import { isRedirected } from './auth-redirects.js';
import { parseComplaint, findMarkedLine } from './complaint.js';
import { type Evidence, type NetworkEntry, hasFailed } from '../model/evidence.js';
import { removeEllipsis, type Reason } from '../model/diagnosis.js';
import type { DiagnosedFailure } from '../model/cause.js';
import type { TestError } from '../model/failure.js';
import { createOwnUrlCheck, pathOf, splitUrl } from '../urls.js';
import { stripAnsi } from '../visible-text.js';
import { splitWords } from './named-requests.js';
import { readErrorBody, formatRequest } from './requests.js';

/** The values that an assertion compared. */
export interface Asserted {
  readonly expected: readonly string[];
  readonly received: readonly string[];
}

const shortest = 2;
const MAX_CHARACTERS = 80;

/** Parses the expected and received texts and numbers from Playwright's messages. */
export function parseAsserted(errors: readonly Pick<TestError, 'message'>[]): Asserted {
  const lines = errors.flatMap(({ message }) => stripAnsi(message).slice(0, 8_000).split('\n'));
  const on = (side: RegExp) => [...new Set(lines.flatMap((line) => parseValues(side.exec(line)?.[1] ?? '')))];
  return {
    expected: on(/^(?:\s*Expected[^:\n]*:|-(?! Expected))\s*(.+)$/),
    received: on(/^(?:\s*Received[^:\n]*:|\+(?! Received))\s*(.+)$/),
  };
}

function parseValues(text: string): string[] {
  // Skips the names of fields.
  const quoted = [...text.matchAll(/"((?:[^"\\]|\\.){1,400})"(?!\s*:)/g)].map(([, value = '']) => value);
  const numbers = quoted.length > 0 ? [] : (text.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g) ?? []);
  return [...quoted, ...numbers].filter(({ length }) => length >= shortest && length <= MAX_CHARACTERS);
}

const isCall = /^(?:api|fetch|xhr)$/;
const mutates = /^(?:POST|PUT|PATCH|DELETE)$/;
const empty = /^\s*(?:\[\s*\]|\{\s*\}|\{[^[\]]*:\s*\[\s*\][^[\]]*\}|null)?\s*$/;
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
 * Returns the app's requests that most likely explain a failure: the deciding request, or the one whose answer contained the deciding URL. Otherwise
 * a request that the test names, or whose answer contains the received value, contradicts its own query or is empty; before it, the last write to
 * the same resource. Empty if no request stands out.
 */
export function chooseRelevantRequests(
  { network, errors, failedStep, pageUrl }: Pick<Evidence, 'network' | 'errors' | 'failedStep' | 'pageUrl'>,
  [reason]: readonly Reason[],
): NetworkEntry[] {
  const isOwnUrl = createOwnUrlCheck({ pageUrl, network });
  const decided =
    reason?.source === 'network'
      ? network.findLast((entry) =>
          [formatRequest(entry), readErrorBody(entry)].some((text) =>
            text.includes(removeEllipsis(reason.evidence)),
          ),
        )
      : undefined;
  if (decided && isOwnUrl(decided.url)) return [decided];
  const origin = decided && splitUrl(decided.url)?.origin;
  const naming =
    origin && network.findLast((entry) => isOwnUrl(entry.url) && entry.responseBody?.includes(origin));
  if (naming) return [naming];
  const calls = network.filter(
    (entry) =>
      isOwnUrl(entry.url) && !entry.common && !entry.isOfServiceWorker && isCall.test(entry.resourceType),
  );
  const documents = network.filter(
    (entry) => isOwnUrl(entry.url) && entry.resourceType === 'document' && !hasFailed(entry),
  );
  // If the app redirected a page, that request is the relevant one.
  const redirected = documents.filter((entry) => isRedirected(entry));
  const candidates = calls.length > 0 ? calls : redirected.length > 0 ? redirected : documents;
  const { expected, received } = parseAsserted(errors);
  const { subject, call } = parseComplaint(errors);
  const words = splitWords([failedStep, ...errors.map(findMarkedLine), subject].filter(Boolean).join('\n'));
  // An empty answer leaves something out of a page, but leads to no other page.
  const mayLackContent = !/^toHave(?:URL|Title)$/.test(call ?? '');
  const [last] = candidates.slice(-1);
  const scoreOf = (entry: NetworkEntry) => {
    const body = entry.responseBody ?? '';
    const isNamed = wordsOfPath(entry).some((word) => words.has(word));
    return (
      (received.some((text) => !expected.includes(text) && body.includes(text)) ? 4 : 0) +
      (findContradiction(entry) === null ? 0 : 3) +
      (isNamed ? 2 : 0) +
      (mayLackContent && entry.status !== null && !mutates.test(entry.method) && hasEmptyBody(entry)
        ? 2
        : 0) +
      (entry === last ? (entry.resourceType === 'api' || calls.length === 0 ? 2 : 1) : 0)
    );
  };
  const scored = candidates.map((entry) => ({ entry, score: scoreOf(entry) }));
  const best = scored.reduce<(typeof scored)[number] | null>(
    (found, one) => (found === null || one.score >= found.score ? one : found),
    null,
  );
  if (best === null || best.score < 2) return [];
  const bestWords = new Set(wordsOfPath(best.entry));
  const written = mutates.test(best.entry.method)
    ? undefined
    : calls
        .slice(0, calls.indexOf(best.entry))
        .findLast(
          (entry) => mutates.test(entry.method) && wordsOfPath(entry).some((word) => bestWords.has(word)),
        );
  return [...(written ? [written] : []), best.entry];
}

/** True if an answer has an empty body, or only an empty list or object; false if the body was not recorded. */
function hasEmptyBody({ responseBody, responseHeaders }: NetworkEntry): boolean {
  return responseBody === null ? responseHeaders['content-length'] === '0' : empty.test(responseBody);
}

function wordsOfPath({ url }: NetworkEntry): string[] {
  return [...splitWords(pathOf(url))].filter((word) => !genericWords.has(word));
}

/** Returns a field of an answer that contradicts the request's query: `?status=pending → [{"status":"dismissed"}]`. */
export function findContradiction({ url, responseBody }: NetworkEntry): string | null {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  const fields = [...(responseBody ?? '').matchAll(/"([\w-]{1,60})":\s*"?([^",}\]]{1,80})"?/g)];
  const wrong = fields.find(([, name = '', value]) => query.has(name) && query.get(name) !== value);
  return wrong?.[0] ?? null;
}

/** Describes the visible fault of an answer that an assertion checks; null if none is visible. */
export function describeWrongAnswer(
  entry: NetworkEntry,
  errors: readonly Pick<TestError, 'message'>[],
): string | null {
  const contradiction = findContradiction(entry);
  if (contradiction !== null) return contradiction;
  const body = entry.responseBody ?? '';
  if (body !== '' && !mutates.test(entry.method) && empty.test(body)) return body.trim().slice(0, 60);
  const { expected, received } = parseAsserted(errors);
  const value = received.find((text) => !expected.includes(text) && body.includes(text));
  return value === undefined ? null : cutAround(body, [value], 60);
}

/** Returns the request whose answer decided a failure: it failed, or contains the value that an assertion rejects; null if there is none. */
export function findDecidingAnswer({ failure, diagnosis, evidence }: DiagnosedFailure): string | null {
  if (failure.scope === 'suite') return null;
  const [reason] = diagnosis.why;
  const entry = chooseRelevantRequests(evidence, diagnosis.why).at(-1);
  if (!entry || entry.resourceType === 'document') return null;
  const isWrong = reason?.source === 'network' || describeWrongAnswer(entry, evidence.errors) !== null;
  return isWrong ? `${entry.method} ${pathOf(entry.url)}` : null;
}

/** Returns the part of a text around the first of these values, at most `room` characters, with the number of omitted characters at each end. */
export function cutAround(text: string, values: readonly string[], room: number): string {
  if (text.length <= room) return text;
  const at = values.map((value) => text.indexOf(value)).find((index) => index >= 0) ?? 0;
  const start = Math.max(0, Math.min(at - Math.floor(room / 2), text.length - room));
  const end = Math.min(text.length, start + room);
  const before = start > 0 ? `${start} characters… ` : '';
  const after = end < text.length ? `… ${text.length - end} more characters` : '';
  return `${before}${text.slice(start, end)}${after}`;
}
