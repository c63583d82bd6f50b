import {
  isSignIn,
  shortenUrl,
  readErrorBody,
  wasAborted,
  describeOutcome,
  repeatsRequest,
  formatRequest,
} from '../diagnose/requests.js';
import { parseComparedValues, clipAround } from '../diagnose/relevant-requests.js';
import { createMatcher } from '../diagnose/match.js';
import { removeEllipsis, type Reason } from '../model/diagnosis.js';
import {
  type ConsoleEntry,
  type Evidence,
  hasFailed,
  isErrorEntry,
  type NetworkEntry,
} from '../model/evidence.js';
import { cutMiddle } from '../fenced.js';
import { normalize } from '../diagnose/normalize.js';
import { reportsError } from './server-output.js';
import { frame, keepProjectFrames } from './stack-lines.js';
import { splitUrl } from '../urls.js';

/** The evidence that a timeline shows. */
export type TimelineSource = Pick<
  Evidence,
  'steps' | 'console' | 'network' | 'serverOutput' | 'serverLines' | 'ofOthers' | 'pageUrl'
>;

/** Something that happened while a test ran. */
export interface TimelineEvent {
  /** Milliseconds since the epoch; null if no clock is known. */
  readonly time: number | null;
  /** Events with the highest rank are dropped first. */
  readonly rank: number;
  readonly text: string;
  /** Events with the same key between two steps are merged and counted; null for a step. */
  readonly key: string | null;
}

const rank = { decided: 0, error: 1, call: 2, other: 3, quiet: 4, before: 5 } as const;
const calls = new Set(['document', 'fetch', 'xhr', 'api', 'websocket', 'eventsource']);
const matcher = createMatcher();

/** How many characters of a console entry or a body one event shows. */
interface Lengths {
  readonly entry: number;
  readonly body: number;
}

export interface TimelineOptions {
  readonly diagnosis: { readonly why: readonly Reason[] };
  /** A text that the reader has already seen; steps do not repeat its lines. */
  readonly knownText?: string;
  readonly lengths?: Lengths;
  /** True for a request whose bodies the reader has already seen. */
  readonly isKnownRequest?: (request: NetworkEntry) => boolean;
}

const promptLengths: Lengths = { entry: 1_200, body: 240 };
/** The lengths in files that people read. */
export const fileLengths: Lengths = { entry: 8_000, body: 2_000 };

/** Lists a test's steps, requests, console entries, dialogs and server lines in chronological order. */
export function buildTimeline(
  recorded: TimelineSource,
  { diagnosis, knownText = '', lengths = promptLengths, isKnownRequest = () => false }: TimelineOptions,
): TimelineEvent[] {
  const reasons = (source: Reason['source']) =>
    diagnosis.why
      .filter((reason) => reason.source === source)
      .map(({ evidence }) => removeEllipsis(evidence));
  const events = [
    ...listStepEvents(recorded, knownText),
    // The page of a 5xx response is read like server output.
    ...listRequestEvents(recorded, [...reasons('network'), ...reasons('server')], {
      lengths,
      knownText,
      isKnownRequest,
    }),
    ...listConsoleEvents(recorded, reasons('console'), lengths),
    ...listServerEvents(recorded, reasons('server')),
  ];
  const order = events.toSorted((a, b) => (a.time ?? Infinity) - (b.time ?? Infinity));
  return mergeRepetitions(demoteEarlyEvents(order, recorded));
}

/** Lowers the rank of events before the last successful action, except for errors. */
function demoteEarlyEvents(
  events: readonly TimelineEvent[],
  { steps = [] }: TimelineSource,
): TimelineEvent[] {
  const failing = steps.findIndex(({ isFailing }) => isFailing);
  const lastSuccess = steps
    .slice(0, failing < 0 ? undefined : failing)
    .findLast(
      ({ error, durationMs, title }) => error === null && durationMs !== null && !isCheck.test(title),
    );
  const from = lastSuccess?.time ?? -Infinity;
  return events.map((event) =>
    event.rank > rank.error && (event.time ?? Infinity) < from ? { ...event, rank: rank.before } : event,
  );
}

const isCheck = /^(?:Expect |expect\.)/;

const noteDecided = (isDecided: boolean) => (isDecided ? ' ← decided' : '');
const noteCommon = (common: boolean | undefined) => (common ? ' (also in passing tests)' : '');

function listStepEvents({ steps = [] }: TimelineSource, knownText: string): TimelineEvent[] {
  const shownSteps = steps.filter(
    ({ at, isFailing, error }) => isFailing || error !== null || !at.includes('node_modules/'),
  );
  return shownSteps.map(({ time, durationMs, title, at, error, log, isFailing }) => {
    const durationText = durationMs === null ? 'did not end' : formatDuration(durationMs);
    const details = [at, durationText].filter((part) => part !== '').join(', ');
    // An error often includes the log, and a successful step needs none.
    const logLines = isFailing || error !== null ? log.filter((line) => !error?.includes(line.trim())) : [];
    const detailLines = [...(error ?? '').split('\n'), ...logLines].filter(
      (line) => line.trim() !== '' && !knownText.includes(line.trim()),
    );
    const head = `${title}${details === '' ? '' : ` (${details})`}${isFailing ? ' ← the test failed here' : error === null ? '' : ' ✗'}`;
    const text = [head, ...detailLines.map((line) => `    | ${line.trim()}`)].join('\n');
    return { time, rank: isFailing ? rank.decided : rank.call, text, key: null };
  });
}

/** Formats a duration of half a second or more; returns an empty string for a shorter one. */
function formatDuration(ms: number): string {
  return ms < 500 ? '' : `${(ms / 1000).toFixed(1)} s`;
}

function listRequestEvents(
  { network, pageUrl, steps = [] }: TimelineSource,
  quotedReasons: readonly string[],
  {
    lengths: { body },
    knownText,
    isKnownRequest,
  }: Required<Pick<TimelineOptions, 'lengths' | 'knownText' | 'isKnownRequest'>>,
): TimelineEvent[] {
  const { expected, received } = parseComparedValues([{ message: knownText }]);
  const values = [...received, ...expected];
  const routes = steps.flatMap(({ title }) => /^Route requests (\S+)/.exec(title)?.[1] ?? []);
  let origin = '';
  // Frameworks set cookies in every response; they are worth showing only if a request was rejected or redirected.
  const hasRejection = network.some(
    ({ method, status, resourceType }) =>
      status === 401 ||
      status === 403 ||
      (method === 'GET' && resourceType === 'document' && status !== null && status >= 300 && status < 400),
  );
  let isSignedIn = false;
  return network.flatMap((entry) => {
    const isRoutedAway =
      entry.isOfServiceWorker === true && !routes.some((pattern) => matchesRoute(pattern, entry.url));
    const isCall = calls.has(entry.resourceType) && !isRoutedAway;
    const failed = hasFailed(entry) && !wasAborted(entry);
    if (!isCall && !failed) return [];
    const parts = splitUrl(entry.url);
    const isSameOrigin = parts !== null && parts.origin === origin;
    origin = parts?.origin ?? origin;
    const cookies = hasRejection || isSignIn(entry) ? entry.responseHeaders['set-cookie'] : undefined;
    const isDecided = quotedReasons.some((reason) =>
      [formatRequest(entry), readErrorBody(entry)].some((text) => text.includes(reason)),
    );
    const isRefused = entry.resourceType === 'document' || (failed && entry.status !== null);
    const sentCookies = hasRejection && isSignedIn && isRefused ? describeSentCookies(entry) : '';
    isSignedIn ||= cookies !== undefined || isSignIn(entry);
    const durationText = formatDuration(entry.durationMs ?? 0);
    const response = `${describeResponse(entry)}${describeOddity(entry)}`;
    // Does not repeat lines of the body that the response already contains.
    const bodyLines = readErrorBody(entry)
      .split('\n')
      .filter((line) => !response.includes(line));
    const line = [
      `  ${entry.isOfServiceWorker ? '[service worker] ' : ''}${entry.method} ${(isSameOrigin ? entry.url.replace(/^\w+:\/\/[^/?#]*/, '') : entry.url).slice(0, 300)}`,
      isKnownRequest(entry) ? '' : excerptBody(entry.requestBody, body / 2),
      sentCookies,
      ` → ${response}`,
      durationText === '' ? '' : ` after ${durationText}`,
      isKnownRequest(entry)
        ? ''
        : failed
          ? excerptBody(bodyLines.join('\n') || entry.responseBody, 2 * body, values)
          : excerptBody(readJsonBody(entry), body, values),
      describeResponder(entry, network, routes),
      ...(cookies ?? '').split('\n').map((cookie) => (cookie === '' ? '' : ` Set-Cookie: ${cookie}`)),
      ...listNotes(entry, pageUrl),
      noteCommon(entry.common),
      noteDecided(isDecided),
    ].join('');
    const isQuiet = entry.common || matcher.removeNoise('network', formatRequest(entry)) === '';
    const isNotable = failed || entry.isOpen || cookies !== undefined || isSignIn(entry);
    const baseRank = isNotable ? rank.error : rank.call;
    const exchange = `${entry.isOfServiceWorker ?? ''} ${entry.method} ${entry.url} ${response} ${entry.requestBody} ${entry.responseBody}`;
    return [
      {
        time: entry.time,
        rank: isDecided ? rank.decided : isQuiet ? rank.quiet : baseRank,
        text: line,
        key: normalize(exchange),
      },
    ];
  });
}

function describeResponse(entry: NetworkEntry): string {
  const { status, failure, isOpen, responseHeaders } = entry;
  const redirectTarget =
    status !== null && status >= 300 && status < 400 ? responseHeaders['location'] : undefined;
  if (wasAborted(entry)) return `${status} (the page did not read its body)`;
  if (status === null && failure === null) return 'still open, no answer when the test ended';
  return `${describeOutcome(entry)}${isOpen && failure === null ? ', its body still open when the test ended' : ''}${redirectTarget === undefined ? '' : ` → ${redirectTarget}`}`;
}

/** Returns the start of a body, or the part around one of these values, on one line, with the number of omitted characters. */
function excerptBody(text: string | null, maxLength: number, values: readonly string[] = []): string {
  // Keeps other kinds of spaces, which may be part of the data.
  const line = (text ?? '').replaceAll(/[ \t\r\n]+/g, ' ').trim();
  return line === '' ? '' : ` ${clipAround(line, values, maxLength)}`;
}

/** Formats a request and its response with both bodies; cuts long bodies to the text around these values. */
export function formatExchange(
  entry: NetworkEntry,
  { values, room }: { readonly values: readonly string[]; readonly room: number },
): string {
  return [
    `${entry.method} ${shortenUrl(entry.url).slice(0, 300)}`,
    excerptBody(entry.requestBody, room, values),
    ` → ${describeResponse(entry)}${describeOddity(entry)}`,
    excerptBody(readErrorBody(entry) || readJsonBody(entry), room, values),
  ].join('');
}

const FIRST_CHARACTERS = 60;

/** Describes an oddity in a successful response: HTML or an empty body in response to an API call, or a compressed event stream. */
function describeOddity({
  isOfServiceWorker,
  status,
  resourceType,
  responseHeaders,
  responseBody,
  url,
  method,
}: NetworkEntry): string {
  if (status === null || status >= 300 || status === 204 || isOfServiceWorker) return '';
  const type = (responseHeaders['content-type'] ?? '').split(';')[0] ?? '';
  const encoding = responseHeaders['content-encoding'];
  if (type === 'text/event-stream') return encoding === undefined ? '' : ` (${type}, ${encoding})`;
  if (!/^(?:fetch|xhr|api)$/.test(resourceType) || method === 'HEAD' || /\.html?(?:[?#]|$)/.test(url))
    return '';
  if (responseHeaders['content-length'] === '0' || responseBody === '') return ' (an empty body)';
  if (type !== 'text/html' && !/^\s*<(?:!doctype|html)/i.test(responseBody ?? '')) return '';
  const start = (responseBody ?? '').trim().slice(0, FIRST_CHARACTERS);
  return ` (${type === '' ? 'HTML' : type}${start === '' ? '' : `: ${start}…`})`;
}

/** Names the test's route or the service worker that answered instead of the server, or a route of the test that nearly matched. */
function describeResponder(
  { answeredBy, isOfServiceWorker, url, time, resourceType }: NetworkEntry,
  network: readonly NetworkEntry[],
  routes: readonly string[],
): string {
  if (answeredBy === 'test') return ' (answered by the test: route)';
  const route = routes.find((pattern) => matchesRoute(pattern, url));
  if (isOfServiceWorker && route !== undefined)
    return ` (the test's route ${route} does not see requests from a service worker; serviceWorkers: 'block' in the Playwright config keeps it out)`;
  const isPassedOn = network.some(
    (other) => other.isOfServiceWorker && other.url === url && Math.abs(other.time - time) < PASSED_ON_MS,
  );
  if (answeredBy === 'no-server' && isPassedOn) return ' (answered by the service worker)';
  if (!/^(?:fetch|xhr)$/.test(resourceType) || route !== undefined) return '';
  const plainUrl = url.replace(/[?#].*$/, '');
  const missedRoute = routes.find((pattern) =>
    [plainUrl, `${plainUrl}/`, plainUrl.replace(/\/$/, '')].some((near) => matchesRoute(pattern, near)),
  );
  return missedRoute === undefined ? '' : ` (just misses the test's route ${missedRoute})`;
}

/** A service worker passes on a page's request within this time. */
const PASSED_ON_MS = 2_000;

/** True if a glob of `page.route` matches a URL. https://playwright.dev/docs/network#glob-url-patterns */
function matchesRoute(glob: string, url: string): boolean {
  const pattern = glob
    .replaceAll(/[.+^$()|[\]\\?]/g, String.raw`\$&`)
    .replaceAll('**', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('\0', '.*')
    .replaceAll(/\{([^{}]*)\}/g, (_, options: string) => `(?:${options.replaceAll(',', '|')})`);
  const isPath = glob.startsWith('/');
  return new RegExp(`^${isPath ? String.raw`\w+://[^/]+` : ''}${pattern}$`).test(url);
}

function readJsonBody({ responseBody, responseHeaders }: NetworkEntry): string | null {
  const isJson = /json/i.test(responseHeaders['content-type'] ?? '') || /^\s*[[{]/.test(responseBody ?? '');
  return isJson ? responseBody : null;
}

function describeSentCookies({ requestHeaders }: NetworkEntry): string {
  const names = (requestHeaders['cookie'] ?? '').split(';').map((pair) => pair.split('=')[0]?.trim() ?? '');
  const sentNames = names.filter((name) => name !== '');
  return sentNames.length === 0
    ? ' (Cookie header not sent)'
    : ` (cookies sent: ${sentNames.slice(0, 8).join(', ')})`;
}

/** Response headers with which a browser may keep a response from a page. */
const blockingHeaders = [
  'x-frame-options',
  'cross-origin-resource-policy',
  'cross-origin-embedder-policy',
  'content-security-policy',
  'permissions-policy',
];

/**
 * Returns notes on a request: the headers that made the browser keep the response from a page of another origin and, for a failed request, its trace
 * context (https://www.w3.org/TR/trace-context/) and the server's timing.
 */
function listNotes(entry: NetworkEntry, pageUrl: string | null): string[] {
  const { failure, url, requestHeaders, responseHeaders } = entry;
  const formatHeaders = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = responseHeaders[name];
      return value === undefined ? [] : [`${name}: ${value.slice(0, 160)}`];
    });
  const traceparent = requestHeaders['traceparent'] ?? responseHeaders['traceparent'];
  const serverDetails = hasFailed(entry)
    ? [...(traceparent ? [`traceparent: ${traceparent}`] : []), ...formatHeaders(['server-timing'])]
    : [];
  const trace = serverDetails.length === 0 ? [] : [` (${serverDetails.join('; ')})`];
  if (!failure?.includes('BLOCKED_BY')) return trace;
  const headers = formatHeaders(blockingHeaders);
  const [answerOrigin, pageOrigin] = [url, pageUrl ?? ''].map((address) =>
    URL.canParse(address) ? new URL(address).origin : null,
  );
  const target = pageOrigin && answerOrigin !== pageOrigin ? ` for a page of ${pageOrigin}` : '';
  if (headers.length === 0 && target === '') return trace;
  return [` (refused${target}${headers.length > 0 ? ` by ${headers.join('; ')}` : ''})`, ...trace];
}

function listConsoleEvents(
  { console, network }: TimelineSource,
  decided: readonly string[],
  { entry: most }: Lengths,
): TimelineEvent[] {
  return console
    .filter(({ text }) => !repeatsRequest(text, network))
    .map((entry) => {
      const { time, type, text, location, stack, common } = entry;
      const isDecided = decided.some((reason) => text.includes(reason.replace(/^Uncaught /, '')));
      const frames = keepProjectFrames(
        (stack ?? '').split('\n').filter((line) => frame.test(line)),
        4,
      );
      const head = `[${type}] ${shortenConsoleText(text, most)} ${location}`.trimEnd();
      return {
        time,
        rank: isDecided ? rank.decided : common ? rank.quiet : rankConsole(entry),
        key: normalize(`${type} ${text}`),
        text: [
          `  ${head}${noteCommon(common)}${noteDecided(isDecided)}`,
          ...frames.map((line) => `      ${line.trim()}`),
        ].join('\n'),
      };
    });
}

function rankConsole(entry: ConsoleEntry): number {
  if (entry.type === 'dialog') return rank.error;
  if (!isErrorEntry(entry) && entry.type !== 'warning') return rank.other;
  return matcher.removeNoise('console', `${entry.type}: ${entry.text}`) === '' ? rank.quiet : rank.error;
}

/** A differing line, and the components around it, as React prints them. (React's list of advice, `- text`, has only one space after the dash.) */
const difference = /^\s*[+-]\s{2,}\S/;
const component = /^\s{2,}(?:<|\.\.\.)/;

/** Shortens a long console text to its beginning and React's differing lines; marks omissions. */
function shortenConsoleText(text: string, most: number): string {
  if (text.length <= most) return text;
  const lines = text.split('\n');
  const isKept = (at: number) =>
    at < 2 ||
    component.test(lines[at] ?? '') ||
    [at - 1, at, at + 1].some((near) => difference.test(lines[near] ?? ''));
  if (!lines.some((line) => difference.test(line))) return cutMiddle(text, most, timelineFile);
  return cutMiddle(replaceGaps(lines, isKept).join('\n'), 2 * most, timelineFile);
}

/**
 * The beginning of a line that continues the previous one: a frame, an object's field, or a closing bracket. Some loggers begin each line with a
 * space.
 */
const continuedLine = /^(?:\s{2}|\t|[}\])]| ?at |goroutine |created by )/;
/** A Go stack frame takes two lines. */
const goFrame = /^(\S[^\n]*)\n\t([^\s:]+\.go:\d+)(?: \+0x[\da-f]+)?$/gm;

function listServerEvents(
  { serverLines, serverOutput, ofOthers = [] }: TimelineSource,
  decided: readonly string[],
): TimelineEvent[] {
  const lines = serverLines ?? serverOutput.split('\n').map((text) => ({ time: null, text }));
  const entries: { time: number | null; lines: string[] }[] = [];
  // Development servers also log changes to self-heal's own files.
  for (const { time, text } of lines.filter(
    (line) => line.text.trim() !== '' && !line.text.includes('.self-heal/runs/'),
  )) {
    const last = entries.at(-1);
    if (last && (continuedLine.test(text) || isGoFrame(last.lines[0], text))) last.lines.push(text);
    else entries.push({ time, lines: [text] });
  }
  const linesOfOthers = new Set(ofOthers);
  // The lines after an error often give details.
  let linesNearError = 0;
  return entries.map(({ time, lines: [first = '', ...more] }) => {
    const entry = [first, ...more].join('\n');
    const isDecided = decided.some((reason) => entry.includes(reason));
    const isOfOtherTest = linesOfOthers.has(first) && !isDecided;
    const stack = more.join('\n').replaceAll(goFrame, '    at $1 ($2)').split('\n');
    const below = more.length === 0 ? [] : keepProjectFrames(stack, 6).map((line) => `\n      ${line}`);
    linesNearError = reportsError(first) ? 3 : linesNearError - 1;
    return {
      time,
      rank: isDecided
        ? rank.decided
        : isOfOtherTest
          ? rank.quiet
          : linesNearError > 0
            ? rank.error
            : rank.other,
      key: normalize(entry),
      text: `  [server] ${first}${isOfOtherTest ? ' (perhaps not about this failure)' : ''}${noteDecided(isDecided)}${below.join('')}`,
    };
  });
}

/** True for a function line in the stack of a Go panic, which is not indented. */
function isGoFrame(first: string | undefined, line: string): boolean {
  return /\bpanic\b/.test(first ?? '') && /^[\w./*()-]+\(.*\)$/.test(line);
}

/** Merges and counts events that repeat within a step. If an event repeats in later steps, only the last one keeps all lines. */
function mergeRepetitions(events: readonly TimelineEvent[]): TimelineEvent[] {
  let step = 0;
  const distinct = new Map<string, TimelineEvent & { times: number }>();
  for (const event of events) {
    if (event.key === null) step += 1;
    const key = `${step} ${event.key ?? ''}`;
    const earlier = distinct.get(key);
    if (earlier) earlier.times += 1;
    else distinct.set(key, { ...event, times: 1 });
  }
  const merged = [...distinct.values()];
  const last = new Map(merged.map(({ key }, at) => [key, at]));
  return merged.map(({ times, ...event }, at) => {
    const [first, ...more] = event.text.split('\n');
    const isRepeated = event.key !== null && more.length > 0 && last.get(event.key) !== at;
    const text = isRepeated ? `${first} (in full below)` : event.text;
    return { ...event, text: times === 1 ? text : `${text} (${times} times)` };
  });
}

/** The file with the whole timeline. */
export const timelineFile = 'timeline.md';

/** Formats a timeline in at most `room` characters. Each event begins with the seconds since the first one. Marks omissions. */
export function formatTimeline(events: readonly TimelineEvent[], room = Infinity): string {
  const startTime = events.find(({ time }) => time !== null)?.time ?? 0;
  const lines = events.map(({ time, text }) => {
    const clock = time === null ? '' : ((time - startTime) / 1000).toFixed(3);
    return `${clock.padStart(7)} ${text}`;
  });
  const all = [...lines.keys()];
  const byRank = all.toSorted((a, b) => (events[a]?.rank ?? 0) - (events[b]?.rank ?? 0) || b - a);
  let remaining = room - GAP_LENGTH;
  const chosen = new Set<number>();
  for (const at of byRank) {
    remaining -= (lines[at]?.length ?? 0) + 1;
    if (remaining < 0) break;
    chosen.add(at);
    remaining -= chosen.size < all.length && !chosen.has(at - 1) && !chosen.has(at + 1) ? GAP_LENGTH : 0;
  }
  if (chosen.size === 0 && byRank[0] !== undefined)
    return cutMiddle(lines[byRank[0]] ?? '', room, timelineFile);
  return replaceGaps(lines, (at) => chosen.has(at)).join('\n');
}

const GAP_LENGTH = 48;

/** Returns the shown lines, and replaces each gap with a note that says how much was omitted and which file has it. */
function replaceGaps(lines: readonly string[], isShown: (at: number) => boolean): string[] {
  const result: string[] = [];
  let [omitted, count] = [0, 0];
  const endGap = () => {
    if (omitted > 0) result.push(`[… ${count} left out, ${omitted} characters, in ${timelineFile} …]`);
    [omitted, count] = [0, 0];
  };
  for (const [at, line] of lines.entries()) {
    if (isShown(at)) {
      endGap();
      result.push(line);
    } else {
      omitted += line.length + 1;
      count += 1;
    }
  }
  endGap();
  return result;
}
