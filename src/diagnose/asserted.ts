import { isRedirected } from './auth-redirects.js';
import { complaintOf, markedLine } from './complaint.js';
import { type Evidence, type NetworkEntry, hasFailed } from '../model/evidence.js';
import { asPrinted, type Reason } from '../model/diagnosis.js';
import type { DiagnosedFailure } from '../model/cause.js';
import type { TestError } from '../model/failure.js';
import { ownOrigin, splitUrl } from '../urls.js';
import { stripAnsi } from '../visible-text.js';
import { wordsOf } from './named-requests.js';
import { errorBody, requestLine } from './requests.js';

/** The texts that an assertion compared. */
export interface Asserted {
  readonly expected: readonly string[];
  readonly received: readonly string[];
}

const shortest = 2;
const longest = 80;

/** Returns the texts and numbers that a test expected and that it received, as Playwright prints them. */
export function assertedIn(errors: readonly Pick<TestError, 'message'>[]): Asserted {
  const lines = errors.flatMap(({ message }) => stripAnsi(message).slice(0, 8_000).split('\n'));
  const on = (side: RegExp) => [...new Set(lines.flatMap((line) => valuesIn(side.exec(line)?.[1] ?? '')))];
  return {
    expected: on(/^(?:\s*Expected[^:\n]*:|-(?! Expected))\s*(.+)$/),
    received: on(/^(?:\s*Received[^:\n]*:|\+(?! Received))\s*(.+)$/),
  };
}

function valuesIn(text: string): string[] {
  // Not the names of fields.
  const quoted = [...text.matchAll(/"((?:[^"\\]|\\.){1,400})"(?!\s*:)/g)].map(([, value = '']) => value);
  const numbers = quoted.length > 0 ? [] : (text.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g) ?? []);
  return [...quoted, ...numbers].filter(({ length }) => length >= shortest && length <= longest);
}

const isCall = /^(?:api|fetch|xhr)$/;
const mutates = /^(?:POST|PUT|PATCH|DELETE)$/;
const empty = /^\s*(?:\[\s*\]|\{\s*\}|\{[^[\]]*:\s*\[\s*\][^[\]]*\}|null)?\s*$/;
/** Parts of an address that say nothing about what it is for. */
const plain = new Set(['api', 'rest', 'trpc', 'json', 'http', 'https', 'localhost', 'get', 'post', 'put']);

/**
 * Returns the requests of the app that a failure is about: the one that decided, or whose answer named the address that decided; or else the one whose
 * answer has what the test received, contradicts its own query, is empty, or that the test names, and before it the last request that wrote to the same
 * thing. Empty if none stands out.
 */
export function askedRequests(
  { network, errors, failedStep, pageUrl }: Pick<Evidence, 'network' | 'errors' | 'failedStep' | 'pageUrl'>,
  [reason]: readonly Reason[],
): NetworkEntry[] {
  const own = ownOrigin({ pageUrl, network });
  const decided =
    reason?.source === 'network'
      ? network.findLast((entry) =>
          [requestLine(entry), errorBody(entry)].some((text) => text.includes(asPrinted(reason.evidence))),
        )
      : undefined;
  if (decided && own(decided.url)) return [decided];
  const origin = decided && splitUrl(decided.url)?.origin;
  const naming =
    origin && network.findLast((entry) => own(entry.url) && entry.responseBody?.includes(origin));
  if (naming) return [naming];
  const calls = network.filter(
    (entry) => own(entry.url) && !entry.common && !entry.isOfServiceWorker && isCall.test(entry.resourceType),
  );
  const documents = network.filter(
    (entry) => own(entry.url) && entry.resourceType === 'document' && !hasFailed(entry),
  );
  // A page that was replaced by another one is the one in question.
  const redirected = documents.filter((entry) => isRedirected(entry));
  const candidates = calls.length > 0 ? calls : redirected.length > 0 ? redirected : documents;
  const { expected, received } = assertedIn(errors);
  const words = wordsOf(
    [failedStep, ...errors.map(markedLine), complaintOf(errors).subject].filter(Boolean).join('\n'),
  );
  const [last] = candidates.slice(-1);
  const scoreOf = (entry: NetworkEntry) => {
    const body = entry.responseBody ?? '';
    const isNamed = pathWords(entry).some((word) => words.has(word));
    return (
      (received.some((text) => !expected.includes(text) && body.includes(text)) ? 4 : 0) +
      (contradictionIn(entry) === null ? 0 : 3) +
      (isNamed ? 2 : 0) +
      (entry.status !== null && !mutates.test(entry.method) && empty.test(body) ? 2 : 0) +
      (entry === last ? (entry.resourceType === 'api' || calls.length === 0 ? 2 : 1) : 0)
    );
  };
  const scored = candidates.map((entry) => ({ entry, score: scoreOf(entry) }));
  const best = scored.reduce<(typeof scored)[number] | null>(
    (found, one) => (found === null || one.score >= found.score ? one : found),
    null,
  );
  if (best === null || best.score < 2) return [];
  const about = new Set(pathWords(best.entry));
  const written = mutates.test(best.entry.method)
    ? undefined
    : calls
        .slice(0, calls.indexOf(best.entry))
        .findLast((entry) => mutates.test(entry.method) && pathWords(entry).some((word) => about.has(word)));
  return [...(written ? [written] : []), best.entry];
}

function pathWords({ url }: NetworkEntry): string[] {
  return [...wordsOf((splitUrl(url)?.path ?? url).replace(/\?.*$/, ''))].filter((word) => !plain.has(word));
}

/** Returns a field of an answer that has another value than the answer's own query asks for: `?status=pending → [{"status":"dismissed"}]`. */
export function contradictionIn({ url, responseBody }: NetworkEntry): string | null {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  const fields = [...(responseBody ?? '').matchAll(/"([\w-]{1,60})":\s*"?([^",}\]]{1,80})"?/g)];
  const wrong = fields.find(([, name = '', value]) => query.has(name) && query.get(name) !== value);
  return wrong?.[0] ?? null;
}

/** Returns what is wrong with an answer that an assertion is about, as far as it shows; null if it does not. */
export function wrongIn(entry: NetworkEntry, errors: readonly Pick<TestError, 'message'>[]): string | null {
  const contradiction = contradictionIn(entry);
  if (contradiction !== null) return contradiction;
  const body = entry.responseBody ?? '';
  if (body !== '' && !mutates.test(entry.method) && empty.test(body)) return body.trim().slice(0, 60);
  const { expected, received } = assertedIn(errors);
  const value = received.find((text) => !expected.includes(text) && body.includes(text));
  return value === undefined ? null : cutAround(body, [value], 60);
}

/** Returns the request whose answer decided a failure: one that failed, or that shows what an assertion complains of; null if none did. */
export function decidingAnswer({ failure, diagnosis, evidence }: DiagnosedFailure): string | null {
  if (failure.scope === 'suite') return null;
  const [reason] = diagnosis.why;
  const entry = askedRequests(evidence, diagnosis.why).at(-1);
  if (!entry || entry.resourceType === 'document') return null;
  const isWrong = reason?.source === 'network' || wrongIn(entry, evidence.errors) !== null;
  return isWrong ? `${entry.method} ${(splitUrl(entry.url)?.path ?? entry.url).replace(/\?.*$/, '')}` : null;
}

/** Returns the part of a text around the first of these values, at most `room` characters, and says how much is left out at each end. */
export function cutAround(text: string, values: readonly string[], room: number): string {
  if (text.length <= room) return text;
  const at = values.map((value) => text.indexOf(value)).find((index) => index >= 0) ?? 0;
  const start = Math.max(0, Math.min(at - Math.floor(room / 2), text.length - room));
  const end = Math.min(text.length, start + room);
  const before = start > 0 ? `${start} characters… ` : '';
  const after = end < text.length ? `… ${text.length - end} more characters` : '';
  return `${before}${text.slice(start, end)}${after}`;
}
