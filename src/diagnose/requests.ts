import { type Evidence, hasFailed, type NetworkEntry } from '../model/evidence.js';
import type { TestError } from '../model/failure.js';
import { complaintOf, locatorIn } from './complaint.js';
import { graphQlErrors, graphQlLine, isRefusal, isServerError } from './graphql-errors.js';
import { stripAnsi } from '../visible-text.js';
import { tryOr } from '../result.js';
import { isLoopback, splitUrl } from '../urls.js';
import { markedStatusLine } from './without-quotes.js';

const decoration = new Set(['image', 'font', 'media', 'ping', 'texttrack', 'manifest']);
const mostRequests = 20;
const longestBody = 2000;
const longestPage = 8000;
const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  amp: '&',
  nbsp: ' ',
  '#39': "'",
  '#x27': "'",
};

/** How a browser's console reports a failed request. */
export const failedResource = 'Failed to load resource';
/** How a browser's console reports that the server sent a page in place of a missing script. */
const refusedScript = /^Refused to execute script from '([^'\n]{1,2000})' because its MIME type/;

/** The browser's code or the status in a console line about a failed request. */
const saidOfResource = /\b(net::ERR_[\w.]+)|status of (\d{3})\b/;

/** Whether a console line only repeats a failed request that is among the evidence; the request itself says more. */
export function repeatsRequest(line: string, network: readonly NetworkEntry[]): boolean {
  if (line.startsWith(failedResource)) {
    const [, code, status] = saidOfResource.exec(line) ?? [];
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
 * Returns the app's own requests that got an error or no answer. Leaves out images, fonts and beacons, and the refusals that a test expects: a
 * 4xx answer to a request that it sent itself, unless the test fails because of it, and a refused sign-in whose message the test reads.
 */
export function failedRequests(
  { network, errors }: Pick<Evidence, 'network' | 'errors'>,
  own: (url: string) => boolean,
): NetworkEntry[] {
  const last = network.findLast(({ resourceType }) => resourceType === 'api');
  const isMeant = (entry: NetworkEntry) =>
    (entry.resourceType === 'api' &&
      isRefusal(entry) &&
      !errors.some((error) => failsOf(error, entry) || (entry === last && readsStatus(error)))) ||
    (isSignIn(entry) && (entry.status === 401 || entry.status === 403) && wantsRefusal(errors));
  return network
    .filter((entry) => hasFailed(entry) && !isGivenUp(entry))
    .filter((entry) => !decoration.has(entry.resourceType) && own(entry.url) && !isMeant(entry))
    .slice(-mostRequests);
}

/** Whether a request signs somebody in. */
export function isSignIn({ method, url, requestBody }: NetworkEntry): boolean {
  const path = (splitUrl(url)?.path ?? url).replace(/\?.*$/, '');
  const isAsked =
    /\/(?:(?:log|sign)[-_]?in|sessions?|auth(?:enticate)?|token|callback\/credentials)(?:\/\w{0,20})?\/?$/i.test(
      path,
    );
  return method === 'POST' && (isAsked || /\bpass(?:word|wd|phrase|code)\b/i.test(requestBody ?? ''));
}

/** How a locator names what an app says of a refusal. */
const ofRefusal =
  /getByRole\(['"]alert['"]|\b(?:wrong|invalid|incorrect|denied|refus\w+|reject\w+|fail\w+|errors?|not (?:found|allowed|valid|recogni[sz]ed)|unknown|locked)\b/i;

/**
 * Whether a test expects its sign-in to be refused: it found the message with another text, or looked for one. A test whose sign-in should
 * have worked misses what follows it instead.
 */
function wantsRefusal(errors: readonly TestError[]): boolean {
  const { kind, call, subject } = complaintOf(errors);
  if (subject === null) return false;
  const isText = kind === 'value' && /^(?:not\.)?to(?:Have|Contain)Text$/.test(call ?? '');
  return isText || ofRefusal.test(subject.replaceAll(/[-_]/g, ' '));
}

const givenUp = /ERR_(?:ABORTED|BLOCKED_BY_CLIENT)|NS_BINDING_ABORTED/;

/** Whether the page, or an extension, broke off a request that was being answered. */
export function isGivenUp({ status, failure }: NetworkEntry): boolean {
  return status !== null && status < 400 && givenUp.test(failure ?? '');
}

/**
 * Whether an error of the app may be behind a failed request. A request that also fails in passing tests means nothing, except for an error of
 * the server: passing tests may not look at what it broke. It was the cause in all of 43 recorded failures with an answer of 500 or above that
 * passing tests had too.
 */
export function mayTell(entry: NetworkEntry): boolean {
  return !entry.common || isServerError(entry);
}

/** Whether an error, other than one about an element, names an answer's status, or quotes its body. */
function failsOf({ message }: TestError, { status, responseBody }: NetworkEntry): boolean {
  const names = status !== null && message.includes(String(status)) && locatorIn(message) === null;
  const quotes = [
    ...quotedByJson(responseBody),
    ...graphQlErrors(responseBody).map((error) => error.message),
  ];
  return names || quotes.some((quote) => quote !== '' && message.includes(quote));
}

function readsStatus({ snippet }: TestError): boolean {
  return stripAnsi(snippet ?? '')
    .split('\n')
    .some((line) => markedStatusLine(line) !== '');
}

/** How V8's `JSON.parse` quotes a text that is not JSON: in full if it is short, else up to ten characters after the first; an empty one not at all. */
export function quotedByJson(text: string | null): string[] {
  if (text === null || text.trim() === '') return ['Unexpected end of JSON input'];
  return [`"${text.slice(0, text.search(/\S/) + 10)}"... is not valid JSON`, `"${text}" is not valid JSON`];
}

/** Returns the page's scripts, from any site, that did not load; those that are missing in passing tests too are left out. */
export function lostScripts({ network }: Pick<Evidence, 'network'>): NetworkEntry[] {
  return network.filter(
    ({ resourceType, status, failure, common }) =>
      resourceType === 'script' &&
      !common &&
      (status === null ? failure !== null && !givenUp.test(failure) : status >= 400),
  );
}

/** Formats a request and its result as one line: `POST /api/orders → 500`; the host is included unless it is the loopback. */
export function endpointOf(entry: NetworkEntry): string {
  return `${entry.method.toUpperCase()} ${addressOf(entry.url).slice(0, 200)} → ${requestOutcomeOf(entry)}`;
}

/** Returns a URL without its host if that is the loopback. */
export function addressOf(url: string): string {
  const parts = splitUrl(url);
  return parts && isLoopback(parts.host) ? parts.path : url;
}

/** Returns how a request ended: its status, or why there is none or the browser kept the answer from the page. */
export function requestOutcomeOf({ status, failure }: NetworkEntry): string {
  const isKept = status !== null && status < 400 && failure !== null;
  return isKept ? `${failure} (answered with ${status})` : String(status ?? failure ?? 'no answer');
}

/** Formats a request for the request rules: `endpointOf` after the resource type. */
export function requestLine(entry: NetworkEntry): string {
  const type = entry.responseHeaders['content-type'] ?? '';
  // A bundler answers with its error as a page or as a script.
  const isApi = (entry.status ?? 0) >= 500 && type.includes('json') ? ' with JSON' : '';
  return `${entry.resourceType || 'other'} ${endpointOf(entry)}${isApi}`;
}

/** Returns the body of an error response, without HTML. GraphQL answers can be errors under any status; theirs come first, one a line. */
export function errorBody(entry: NetworkEntry): string {
  const body = entry.responseBody;
  const errors = graphQlErrors(body);
  if (!body || ((entry.status ?? 0) < 400 && errors.length === 0)) return '';
  return [...errors.map(graphQlLine), plainBody(body)].join('\n').slice(0, longestBody);
}

function plainBody(body: string): string {
  return /^\s*</.test(body) ? pageText(body) : body.slice(0, longestBody * 4);
}

const unseen = /<(script|style|svg|template)\b[^]*?(?:<\/\1>|$)|<!--[^]*?(?:-->|$)/gi;
const inline = /<\/?(?:a|abbr|b|code|em|i|mark|small|span|strong|time|wbr)(?:\s[^<>]*)?>/gi;

/** Returns the text of a page, a line for each block. */
export function pageText(html: string): string {
  const text = html
    .replace(unseen, '\n')
    .replace(inline, '')
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

/** Whether a server answered with a page that says how it failed. */
export function isErrorPage({ status, resourceType, responseBody, responseHeaders }: NetworkEntry): boolean {
  const isHtml = /^\s*</.test(responseBody ?? '') || /\bhtml\b/.test(responseHeaders['content-type'] ?? '');
  return (status ?? 0) >= 500 && isHtml && /^(?:document|fetch|xhr)$/.test(resourceType);
}

/** Returns what the error page of a server says; empty if the answer is none. */
export function errorPageText(entry: NetworkEntry): string {
  return isErrorPage(entry) ? plainBody(entry.responseBody ?? '').slice(0, longestPage) : '';
}

/** Shorter texts (`error`, `not found`) appear in unrelated messages. */
const shortestText = 12;
const saidInJson = /"(?:[^"\\\n]|\\.){12,400}"/g;

/** Returns the sentences that an error response says: the strings of its JSON, or else its text. */
export function responseTexts(entry: NetworkEntry): string[] {
  const body = errorBody(entry).trim();
  if (body === '') return [];
  const quoted = body.match(saidInJson) ?? [];
  const texts =
    quoted.length > 0
      ? quoted.map((text) => tryOr(text.slice(1, -1), () => JSON.parse(text) as string))
      : [body];
  return texts.filter((text) => text.length >= shortestText && text.includes(' '));
}

const withoutHeader =
  /'(https?:\/\/[^'\s]{1,2000})' from origin .{1,300} blocked by CORS policy: .{0,200}No 'Access-Control-Allow-Origin'/;

/**
 * Returns the origin of an answer that the browser withheld for want of a CORS header although other answers of the origin had one; null if
 * there is none. Such an answer is usually the error page of a server that failed.
 */
export function lostAnswerOf({ console, network }: Pick<Evidence, 'console' | 'network'>): string | null {
  const origins = console.flatMap(({ text }) => splitUrl(withoutHeader.exec(text)?.[1] ?? '')?.origin ?? []);
  const isAnswered = (origin: string) =>
    network.some(
      ({ url, status, resourceType }) =>
        status !== null && /^(?:xhr|fetch)$/.test(resourceType) && splitUrl(url)?.origin === origin,
    );
  return origins.find(isAnswered) ?? null;
}
