import { type Evidence, hasFailed, type NetworkEntry } from '../model/evidence.js';
import type { TestError } from '../model/failure.js';
import { parseComplaint, findLocator } from './complaint.js';
import { parseGraphQlErrors, formatGraphQlError, isRefusal, isServerError } from './graphql-errors.js';
import { stripAnsi } from '../visible-text.js';
import { tryOr } from '../result.js';
import { isLoopback, getPath, splitUrl } from '../urls.js';
import { readMarkedStatusLine } from './without-quotes.js';

const decorativeTypes = new Set(['image', 'font', 'media', 'ping', 'texttrack', 'manifest']);
const MAX_REQUESTS = 20;
const MAX_BODY = 2000;
const MAX_PAGE = 8000;
const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  amp: '&',
  nbsp: ' ',
  '#39': "'",
  '#x27': "'",
};

/** The browser console's message for a failed request. */
export const failedResource = 'Failed to load resource';
/** The browser console's message if the server sent a page in place of a script. */
const refusedScript = /^Refused to execute script from '([^'\n]{1,2000})' because its MIME type/;

/** The browser's code or the status in a console line about a failed request. */
const failedResourceReason = /\b(net::ERR_[\w.]+)|status of (\d{3})\b/;

/** True if a console line only repeats a failed request in the evidence, which has more details. */
export function repeatsRequest(line: string, network: readonly NetworkEntry[]): boolean {
  if (line.startsWith(failedResource)) {
    const [, code, status] = failedResourceReason.exec(line) ?? [];
    return network.some((entry) =>
      code === undefined
        ? entry.status === Number(status)
        : (entry.failure ?? '').includes(code) || (hasFailed(entry) && line.includes(entry.url)),
    );
  }
  const script = refusedScript.exec(line)?.[1];
  return script !== undefined && network.some((entry) => entry.url === script && hasFailed(entry));
}

/**
 * Returns the app's own requests that got an error or no response. Omits images, fonts and beacons, and refusals that the test expects: a 4xx response
 * to its own request, unless the test fails because of it, and a refused sign-in whose message the test reads.
 */
export function findFailedRequests(
  { network, errors }: Pick<Evidence, 'network' | 'errors'>,
  isOwnUrl: (url: string) => boolean,
): NetworkEntry[] {
  const lastApiRequest = network.findLast(({ resourceType }) => resourceType === 'api');
  const isExpectedRefusal = (entry: NetworkEntry) =>
    (entry.resourceType === 'api' &&
      isRefusal(entry) &&
      !errors.some(
        (error) => isAboutResponse(error, entry) || (entry === lastApiRequest && readsStatus(error)),
      )) ||
    (isSignIn(entry) && (entry.status === 401 || entry.status === 403) && expectsRefusal(errors));
  return network
    .filter((entry) => hasFailed(entry) && !wasAborted(entry))
    .filter(
      (entry) => !decorativeTypes.has(entry.resourceType) && isOwnUrl(entry.url) && !isExpectedRefusal(entry),
    )
    .slice(-MAX_REQUESTS);
}

/** True if a request signs somebody in. */
export function isSignIn({ method, url, requestBody }: NetworkEntry): boolean {
  const isSignInPath =
    /\/(?:(?:log|sign)[-_]?in|sessions?|auth(?:enticate)?|token|callback\/credentials)(?:\/\w{0,20})?\/?$/i.test(
      getPath(url),
    );
  return method === 'POST' && (isSignInPath || /\bpass(?:word|wd|phrase|code)\b/i.test(requestBody ?? ''));
}

/** A locator of an error message. */
const refusalMessage =
  /getByRole\(['"]alert['"]|\b(?:wrong|invalid|incorrect|denied|refus\w+|reject\w+|fail\w+|errors?|not (?:found|allowed|valid|recogni[sz]ed)|unknown|locked)\b/i;

/**
 * True if a test expects its sign-in to be refused: it checks the text of the error message. A test that expects a successful sign-in fails at the
 * next step instead.
 */
function expectsRefusal(errors: readonly TestError[]): boolean {
  const { kind, call, subject } = parseComplaint(errors);
  if (subject === null) return false;
  const isText = kind === 'value' && /^(?:not\.)?to(?:Have|Contain)Text$/.test(call ?? '');
  return isText || refusalMessage.test(subject.replaceAll(/[-_]/g, ' '));
}

const abortError = /ERR_(?:ABORTED|BLOCKED_BY_CLIENT)|NS_BINDING_ABORTED/;

/** True if the page or an extension aborted a request while its response arrived. */
export function wasAborted({ status, failure }: NetworkEntry): boolean {
  return status !== null && status < 400 && abortError.test(failure ?? '');
}

/**
 * True if a failed request may show an error of the app. A request that also fails in passing tests does not count, unless the server failed:
 * passing tests may not check the broken part. In all 43 recorded failures with a status of 500 or above that passing tests had, too, it was the
 * cause.
 */
export function mayShowAppError(entry: NetworkEntry): boolean {
  return !entry.common || isServerError(entry);
}

/** True if an error quotes a response's body or, unless it is about an element, names its status. */
function isAboutResponse({ message }: TestError, { status, responseBody }: NetworkEntry): boolean {
  const namesStatus = status !== null && message.includes(String(status)) && findLocator(message) === null;
  const quotes = [
    ...listJsonErrors(responseBody),
    ...parseGraphQlErrors(responseBody).map((error) => error.message),
  ];
  return namesStatus || quotes.some((quote) => quote !== '' && message.includes(quote));
}

function readsStatus({ snippet }: TestError): boolean {
  return stripAnsi(snippet ?? '')
    .split('\n')
    .some((line) => readMarkedStatusLine(line) !== '');
}

/** V8's `JSON.parse` errors for a text: they quote a short text in full, and up to ten characters of a longer one. */
export function listJsonErrors(text: string | null): string[] {
  if (text === null || text.trim() === '') return ['Unexpected end of JSON input'];
  return [`"${text.slice(0, text.search(/\S/) + 10)}"... is not valid JSON`, `"${text}" is not valid JSON`];
}

/** Returns the page's scripts, from any site, that did not load, except those that are also missing in passing tests. */
export function findLostScripts({ network }: Pick<Evidence, 'network'>): NetworkEntry[] {
  return network.filter(
    ({ resourceType, status, failure, common }) =>
      resourceType === 'script' &&
      !common &&
      (status === null ? failure !== null && !abortError.test(failure) : status >= 400),
  );
}

/** Formats a request and its result as one line: `POST /api/orders → 500`; the host is included unless it is the loopback. */
export function formatEndpoint(entry: NetworkEntry): string {
  return `${entry.method.toUpperCase()} ${shortenUrl(entry.url).slice(0, 200)} → ${describeOutcome(entry)}`;
}

/** Returns a URL without its host if the host is a loopback address. */
export function shortenUrl(url: string): string {
  const parts = splitUrl(url);
  return parts && isLoopback(parts.host) ? parts.path : url;
}

/** Describes how a request ended: its status, why it has none, or why the browser withheld the response. */
export function describeOutcome({ status, failure }: NetworkEntry): string {
  const wasWithheld = status !== null && status < 400 && failure !== null;
  return wasWithheld ? `${failure} (answered with ${status})` : String(status ?? failure ?? 'no answer');
}

/** Formats a request for the request rules: `formatEndpoint` after the resource type. */
export function formatRequest(entry: NetworkEntry): string {
  const type = entry.responseHeaders['content-type'] ?? '';
  // A bundler sends its errors as a page or a script, an API as JSON.
  const isApi = (entry.status ?? 0) >= 500 && type.includes('json') ? ' with JSON' : '';
  return `${entry.resourceType || 'other'} ${formatEndpoint(entry)}${isApi}`;
}

/** Returns the body of an error response without markup. GraphQL errors, which can have any status, come first, one a line. */
export function readErrorBody(entry: NetworkEntry): string {
  const body = entry.responseBody;
  const errors = parseGraphQlErrors(body);
  if (!body || ((entry.status ?? 0) < 400 && errors.length === 0)) return '';
  return [...errors.map(formatGraphQlError), stripMarkup(body)].join('\n').slice(0, MAX_BODY);
}

function stripMarkup(body: string): string {
  return /^\s*</.test(body) ? readPageText(body) : body.slice(0, MAX_BODY * 4);
}

const invisibleMarkup = /<(script|style|svg|template)\b[^]*?(?:<\/\1>|$)|<!--[^]*?(?:-->|$)/gi;
const inlineTag = /<\/?(?:a|abbr|b|code|em|i|mark|small|span|strong|time|wbr)(?:\s[^<>]*)?>/gi;

/** Returns a page's text, with one line per block. */
export function readPageText(html: string): string {
  const text = html
    .replace(invisibleMarkup, '\n')
    .replace(inlineTag, '')
    .replace(/<[^<>]*>/g, '\n')
    .replace(/&(#?\w{2,6});/g, (entity, name: string) => entities[name] ?? entity);
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/\s+/g, ' ')
        .replace(/ (?=:\d+$)/, '')
        .trim(),
    )
    .filter((line) => line !== '')
    .join('\n');
}

/** True if a server answered with an error page. */
export function isErrorPage({ status, resourceType, responseBody, responseHeaders }: NetworkEntry): boolean {
  const isHtml = /^\s*</.test(responseBody ?? '') || /\bhtml\b/.test(responseHeaders['content-type'] ?? '');
  return (status ?? 0) >= 500 && isHtml && /^(?:document|fetch|xhr)$/.test(resourceType);
}

/** Returns the text of a server's error page; empty for any other response. */
export function readErrorPage(entry: NetworkEntry): string {
  return isErrorPage(entry) ? stripMarkup(entry.responseBody ?? '').slice(0, MAX_PAGE) : '';
}

/** Shorter texts (`error`, `not found`) appear in unrelated messages. */
const shortestText = 12;
const jsonSentence = /"(?:[^"\\\n]|\\.){12,400}"/g;

/** Returns the sentences of an error response: the strings of its JSON, or else its text. */
export function listResponseTexts(entry: NetworkEntry): string[] {
  const body = readErrorBody(entry).trim();
  if (body === '') return [];
  const quoted = body.match(jsonSentence) ?? [];
  const texts =
    quoted.length > 0
      ? quoted.map((text) => tryOr(text.slice(1, -1), () => JSON.parse(text) as string))
      : [body];
  return texts.filter((text) => text.length >= shortestText && text.includes(' '));
}

const missingCorsHeader =
  /'(https?:\/\/[^'\s]{1,2000})' from origin .{1,300} blocked by CORS policy: .{0,200}No 'Access-Control-Allow-Origin'/;

/**
 * Returns the origin of a response that the browser withheld because it lacked the CORS header that other responses from that origin have; null if
 * there is none. Such a response is usually the error page of a failed server.
 */
export function findBlockedOrigin({
  console,
  network,
}: Pick<Evidence, 'console' | 'network'>): string | null {
  const origins = console.flatMap(
    ({ text }) => splitUrl(missingCorsHeader.exec(text)?.[1] ?? '')?.origin ?? [],
  );
  const isAnswered = (origin: string) =>
    network.some(
      ({ url, status, resourceType }) =>
        status !== null && /^(?:xhr|fetch)$/.test(resourceType) && splitUrl(url)?.origin === origin,
    );
  return origins.find(isAnswered) ?? null;
}
