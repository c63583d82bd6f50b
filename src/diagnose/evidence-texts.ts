import { type ConsoleEntry, type Evidence, isErrorEntry, type NetworkEntry } from '../model/evidence.js';
import { orderErrors } from './complaint.js';
import { normalize } from './normalize.js';
import type { TestError } from '../model/failure.js';
import type { EvidenceText, Matcher } from './match.js';
import { hasUnreachableHost, mayExplainFailure } from './unreachable-host.js';
import { createOwnUrlCheck, getPath, splitUrl } from '../urls.js';
import { splitLogBlocks, type NamedRequests, findNamedRequests } from './named-requests.js';
import {
  readErrorBody,
  readErrorPage,
  findFailedRequests,
  failedResource,
  findLostScripts,
  mayShowAppError,
  listJsonErrors,
  repeatsRequest,
  formatRequest,
  listResponseTexts,
} from './requests.js';
import { stripAnsi } from '../visible-text.js';
import { readMarkedStatusLine, removeQuotes } from './without-quotes.js';

const MAX_LINE_LENGTH = 600;

/** Shortens a text to `max` characters, two thirds from its beginning and the rest from its end, and each line to 600. */
export function clipText(text: string, max: number): string {
  const head = Math.floor((max * 2) / 3);
  const clipped =
    text.length > max ? `${text.slice(0, head)}\n${text.slice(text.length - (max - head))}` : text;
  if (clipped.length <= MAX_LINE_LENGTH) return clipped;
  return clipped
    .split('\n')
    .map((line) => (line.length > MAX_LINE_LENGTH ? line.slice(0, MAX_LINE_LENGTH) : line))
    .join('\n');
}

/** How many characters of each channel to read. */
const maxCharacters = { error: 12_000, stack: 4_000, console: 1_500, server: 24_000, page: 6_000 } as const;
const MAX_CONSOLE_ENTRIES = 50;
const quietTypes = new Set(
  'log info debug warning dir dirxml table trace count timeEnd clear dialog'.split(' '),
);
/** The code that threw, in Node or a package. Node prints it above an exception that ends the process. */
const foreignCode =
  /^(?:node:|(?:file:\/\/)?(?:\/|[A-Za-z]:\\).{0,300}[\\/]node_modules[\\/]).{1,200}:\d{1,7}\n.{0,1000}\n[ \t]{0,1000}\^+[ \t]*$/gm;
/** Calls that run code in the page, whose exception becomes the test's error. */
const pageCall = /\.(?:evaluate\w*|\$\$?eval|waitForFunction): /;
/** The first script in a stack: its URL, or the source-mapped file. A URL without a position is part of the message. */
const scriptAddress =
  /https?:\/\/[^\s)]{1,500}?:\d{1,7}:\d{1,7}(?=[)\s]|$)|(?<=[(@\s])[\w.~@-][^\s():]{0,300}\.\w{2,6}:\d{1,7}:\d{1,7}(?=[)\s]|$)/;

/**
 * Returns the text of every channel of the evidence, cleaned up for the rules. With `hasOnlyAssertion`, only the test's own assertion shows a fault, so
 * failed requests to other sites count even if no error mentions them.
 */
export function collectTexts(
  evidence: Evidence,
  { removeNoise }: Pick<Matcher, 'removeNoise'>,
  hasOnlyAssertion = false,
): EvidenceText[] {
  const isOwnUrl = createOwnUrlCheck(evidence);
  const lost = findLostScripts(evidence).filter(
    (entry) => removeNoise('network', formatRequest(entry)) !== '',
  );
  // An exception that follows from a missing script is never the cause, even if passing tests miss the script, too.
  const commonlyLost = evidence.network.filter(
    (entry) => entry.common && entry.resourceType === 'script' && hasUnreachableHost(entry, isOwnUrl),
  );
  const isExplained = createMissingScriptCheck([...lost, ...commonlyLost], isOwnUrl);
  const unreached = hasOnlyAssertion
    ? evidence.network.filter(
        (entry) =>
          !isOwnUrl(entry.url) &&
          (hasUnreachableHost(entry, isOwnUrl) ? mayExplainFailure(entry, evidence) : lost.includes(entry)),
      )
    : findNeededScripts([...lost, ...commonlyLost], isOwnUrl, evidence);
  const isAboutUnreached = createUnreachableHostCheck(evidence, isOwnUrl);
  const followsFromLostScript = createMissingScriptCheck(
    [...lost.filter(({ url }) => isOwnUrl(url)), ...unreached],
    () => true,
  );
  const failed = findFailedRequests(evidence, isOwnUrl);
  const { named, isAboutOthers } = findNamedRequests(
    failed.filter(({ common }) => !common),
    evidence,
  );
  const isAnswered = failed.length === 0 && gotAllResponses(evidence, isOwnUrl);
  const relevant = [...named, ...unreached];
  const isExplainedByRequest = relevant.length > 0 || showsErrorPage(evidence);
  const isShared = !isExplainedByRequest && failed.some(mayShowAppError);
  const isEcho = createRepeatedResponseCheck(relevant);
  const readConsole = (hint: boolean) =>
    readConsoleText(
      evidence,
      (entry) =>
        (entry.common || isExplained(entry) || isAboutUnreached(entry.text)) === hint &&
        isFromOwnScript(entry, isOwnUrl) &&
        !isEcho(entry.text),
    );
  const readErrors = (hint: boolean) =>
    readErrorText(
      orderErrors(evidence.errors).filter(
        (error) => (isExplainedError(followsFromLostScript, error) || isUnreadable(error)) === hint,
      ),
    );
  const isUnreadable = ({ message }: TestError) =>
    failed.some(({ responseBody }) => listJsonErrors(responseBody).some((quote) => message.includes(quote)));
  const formatRequests = (requests: readonly NetworkEntry[]) => requests.map(formatRequest).join('\n');
  const channels: EvidenceText[] = [
    { source: 'error', text: readErrors(false), isAnswered },
    { source: 'error', text: readErrors(true), isHint: true },
    { source: 'stack', text: readStackText(evidence), isAnswered },
    { source: 'stack', text: readCustomMatcherStep(evidence) },
    { source: 'console', text: readConsole(false) },
    { source: 'console', text: readConsole(true), isHint: true },
    { source: 'network', text: formatRequests(relevant) },
    {
      source: 'network',
      text: formatRequests(failed.filter((entry) => !named.includes(entry))),
      isHint: true,
    },
    ...[...named, ...failed.filter((entry) => entry.common && mayShowAppError(entry))].map((entry) => {
      const page = readErrorPage(entry);
      return {
        // The status on an error page is only a hint, like a server's own messages about requests.
        source: page === '' ? ('network' as const) : ('server' as const),
        text: stripAnsi(page || readErrorBody(entry)),
        isShared: page !== '' || (entry.common ?? false),
      };
    }),
    {
      source: 'server',
      text: readServerText(evidence, { hasFailedRequest: isExplainedByRequest || isShared, isAboutOthers }),
      isShared: evidence.network.length > 0 && !isExplainedByRequest,
    },
    { source: 'page', text: clipText(evidence.ariaSnapshot ?? '', maxCharacters.page) },
  ];
  return channels
    .map((channel) =>
      channel.text === '' ? channel : { ...channel, text: removeNoise(channel.source, channel.text) },
    )
    .filter(({ text }) => text !== '');
}

/** The pages that frameworks show after a loader or component failed on the server. */
const errorPage =
  /- heading "An error occurred\." \[level=1\]|<h1 id="title">An error occurred\.|\bInternal (?:Server )?Error\b|\bUnexpected (?:Server|Application) Error\b|\bserver-side exception\b|\bA server error occurred\b|(?:- heading "|<h1[^>]{0,80}>)5\d\d(?: \||"|$)/im;

/**
 * True if the page shows a server error. Its status may be 200: SvelteKit and others deliver the error in a client-side navigation, and a
 * streamed page (Astro) sends its status before it renders its components.
 */
function showsErrorPage({ ariaSnapshot, errors }: Evidence): boolean {
  const messages = errors.map(({ message }) => stripAnsi(clipText(message, maxCharacters.error)));
  return [clipText(ariaSnapshot ?? '', maxCharacters.page), ...messages].some((text) => errorPage.test(text));
}

/**
 * Returns the server's output for the rules. Tests share one server, so if this test's page got every response and shows no error, only lines that
 * passing tests do not have count.
 */
function readServerText(
  { network, serverOutput, ofOthers = [] }: Evidence,
  {
    hasFailedRequest,
    isAboutOthers,
  }: { readonly hasFailedRequest: boolean } & Pick<NamedRequests, 'isAboutOthers'>,
): string {
  const text = stripAnsi(clipText(unpackJsonStacks(serverOutput), maxCharacters.server));
  const others = new Set(network.length > 0 && !hasFailedRequest ? ofOthers.map(normalize) : []);
  const ownLines = text.split('\n').filter((line) => others.size === 0 || !others.has(normalize(line)));
  const blocks = dropOtherRequests(
    splitLogBlocks(removeLinePrefixes(ownLines.join('\n'))).filter((block) => !isAboutOthers(block)),
    network,
  );
  return blocks.join('\n').replace(foreignCode, '');
}

/** A request in a server's own log, without a host: `GET /api/orders`. */
const incomingRequest = /\b(?:GET|POST|PUT|PATCH|DELETE) (\/[^\s"'?,;:)\]]{1,200})/g;
const anyError = /\berror\b|(?:Error|Exception)\b/i;

/** If an error names a request of this test, drops the blocks that name only requests from other tests. */
function dropOtherRequests(blocks: readonly string[], network: readonly NetworkEntry[]): readonly string[] {
  const requestedPaths = network.map(({ url }) => getPath(url));
  const attributed = blocks.map((block) => {
    const paths = [...block.matchAll(incomingRequest)].map(([, path = '']) => path);
    // Routers log paths relative to their mount point.
    const isOwn = paths.some((path) => requestedPaths.some((requested) => requested.endsWith(path)));
    return { block, isOwn, isOther: paths.length > 0 && !isOwn };
  });
  const hasOwnError = attributed.some(({ block, isOwn }) => isOwn && anyError.test(block));
  return hasOwnError ? attributed.filter(({ isOther }) => !isOther).map(({ block }) => block) : blocks;
}

/** The stack of an exception in a line of JSON, as pino, winston, Serilog and Logback write it. */
const stackInJson = /"(?:stack|stack_?trace|exception|@x)": ?"((?:[^"\\\n]|\\.){1,8000})"/gi;

/** Puts stacks in JSON on lines of their own, as other loggers print them. */
function unpackJsonStacks(text: string): string {
  return text.replace(stackInJson, (field, stack: string) => {
    const lines = stack.split(/(?:\\r)?\\n/);
    return lines.length > 1
      ? `\n${lines
          .join('\n')
          .replace(/\\t/g, '\t')
          .replace(/\\(["\\])/g, '$1')}\n`
      : field;
  });
}

/** True if the page loaded, and no request from the page to the app is still open. Ignores the test's own requests. */
function gotAllResponses({ network }: Evidence, isOwnUrl: (url: string) => boolean): boolean {
  const requests = network.filter(({ url, resourceType }) => resourceType !== 'api' && isOwnUrl(url));
  return requests.length > 0 && requests.every(({ status, failure }) => status !== null || failure !== null);
}

/** True if an exception inside the page follows from a script that did not load. */
function isExplainedError(
  isExplained: ReturnType<typeof createMissingScriptCheck>,
  { message }: TestError,
): boolean {
  return pageCall.test(message) && isExplained({ text: stripAnsi(clipText(message, maxCharacters.console)) });
}

/** Returns the scripts from other sites that the page needed but could not load. */
function findNeededScripts(
  lost: readonly NetworkEntry[],
  isOwnUrl: (url: string) => boolean,
  { console, errors }: Evidence,
): NetworkEntry[] {
  return lost.filter((script) => {
    const isExplained = createMissingScriptCheck([script], isOwnUrl);
    return (
      !isOwnUrl(script.url) &&
      (console.some((entry) => !entry.common && isExplained(entry)) ||
        errors.some((error) => isExplainedError(isExplained, error)))
    );
  });
}

function readErrorText(errors: readonly TestError[]): string {
  const parts = errors.flatMap(({ message, causes, snippet }) => [
    message,
    ...causes,
    readStatusLines(snippet),
  ]);
  const text = parts.filter((part) => part !== '').join('\n');
  return removeQuotes(removeLinePrefixes(straightenQuotes(stripAnsi(clipText(text, maxCharacters.error)))));
}

/** Replaces typographic quotation marks, which word processors and chats substitute for straight ones. */
function straightenQuotes(text: string): string {
  if (!/[\u2018\u2019\u201C\u201D]/.test(text)) return text;
  return text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201C\u201D]/g, '"');
}

function readStatusLines(snippet: string | null): string {
  if (!snippet?.includes('>')) return '';
  return stripAnsi(clipText(snippet, maxCharacters.stack))
    .split('\n')
    .map(readMarkedStatusLine)
    .filter(Boolean)
    .join('\n');
}

/** Returns the failed step if the error has no `expect(`: custom matchers print any text, but their step shows that they are expectations. */
function readCustomMatcherStep({ errors, failedStep }: Evidence): string {
  const isBuiltInMatcher = errors.some(({ message }) => message.includes('expect('));
  return isBuiltInMatcher ? '' : removeQuotes(failedStep ?? '');
}

function readStackText({ errors }: Evidence): string {
  const stacks = errors.map(({ stack, message }) =>
    stack?.startsWith(message) ? stack.slice(message.length) : stack,
  );
  return removeQuotes(stripAnsi(clipText(stacks.filter(Boolean).join('\n'), maxCharacters.stack)));
}

function readConsoleText(evidence: Evidence, isCounted: (entry: ConsoleEntry) => boolean): string {
  const isRelevant = (entry: ConsoleEntry) => isErrorEntry(entry) || !quietTypes.has(entry.type);
  const relevant = evidence.console.filter((entry) => isRelevant(entry) && isCounted(entry));
  return relevant
    .slice(-MAX_CONSOLE_ENTRIES)
    .map(formatConsoleLine)
    .filter((line) => !repeatsRequest(line, evidence.network))
    .map((text) => stripAnsi(clipText(text, maxCharacters.console)))
    .join('\n');
}

/** Formats an entry for the rules. For a failed request, the browser gives the URL only as the entry's location. */
export function formatConsoleLine({ type, text, location }: ConsoleEntry): string {
  if (text.startsWith(failedResource) && location !== '') return `${text} (${location})`;
  return type === 'pageerror' ? `Uncaught ${text.replace(/^Uncaught /, '')}` : text;
}

function isFromOwnScript(
  { location, stack, text }: ConsoleEntry,
  isOwnUrl: (url: string) => boolean,
): boolean {
  // The location of a failed request is the requested URL; the location of a script's error is the script's URL.
  const script = scriptAddress.exec(stack ?? '')?.[0] ?? location;
  return script === '' || isOwnUrl(script) || text.includes('CORS policy');
}

/** The status in an error message about a response: `The response (404) …`, `Request failed: 500`. */
const answeredStatus =
  /\b(?:request|response|respond\w{0,3}|answer\w{0,3}|return(?:s|ed)|fetch\w{0,3}|load\w{0,3}|http|status)\b[^\d\n]{0,40}\b([45]\d\d)\b/i;
/**
 * Creates a predicate for texts that only repeat the response of a failed request, and so are not the cause (CS-7): exceptions with the text of the
 * response (`throw new Error(body.error)`) or its status (`The response (404) has no frame`, `GET /api/cart: 500`), or about HTML or an empty body
 * that cannot be parsed as JSON.
 */
function createRepeatedResponseCheck(failed: readonly NetworkEntry[]): (text: string) => boolean {
  const sentences = failed.flatMap((entry) => [
    ...listResponseTexts(entry),
    ...listJsonErrors(entry.responseBody),
  ]);
  const responses = failed.flatMap(({ status, url }) =>
    status === null
      ? []
      : [{ status: String(status), path: splitUrl(url)?.path.replace(/\?.*$/, '') ?? '/' }],
  );
  return (text) =>
    sentences.some((sentence) => text.includes(sentence)) ||
    responses.some(
      ({ status, path }) =>
        answeredStatus.exec(text)?.[1] === status ||
        removeMention(text, path)
          .match(/(?<![\w./])\d{3}\b/g)
          ?.includes(status),
    );
}

/**
 * Removes the mention of a path from a text; returns an empty string if the text does not mention it. API clients add a prefix to paths, so
 * `GET /orders: 500` mentions `/api/orders`.
 */
function removeMention(text: string, path: string): string {
  const mention = text.match(/\/[^\s?:'"`()]{2,200}/g)?.find((mention) => path.endsWith(mention));
  return mention === undefined ? '' : text.replace(mention, ' ');
}

/** An exception about a failed call that does not name the call. */
const callFailed =
  /\bFailed to fetch\b|NetworkError when|\bLoad failed\b|\bNetwork ?Error\b|Network request failed/i;

/** Creates a predicate for texts about unreachable hosts that do not explain the failure. */
function createUnreachableHostCheck(
  evidence: Evidence,
  isOwnUrl: (url: string) => boolean,
): (text: string) => boolean {
  const unreached = evidence.network.filter((entry) => hasUnreachableHost(entry, isOwnUrl));
  const unrelated = unreached.filter((entry) => !mayExplainFailure(entry, evidence));
  const areAllUnrelated = unrelated.length > 0 && unrelated.length === unreached.length;
  const isOwnCallLost = evidence.network.some(
    ({ url, status, failure }) => isOwnUrl(url) && status === null && failure !== null,
  );
  return (text) =>
    unrelated.some(({ url }) => text.includes(splitUrl(url)?.host ?? url)) ||
    (areAllUnrelated && !isOwnCallLost && callFailed.test(text));
}

// CI systems, containers, task runners, loggers, PHP and pytest put these prefixes before each line; Next and Astro put them before errors.
const clock = String.raw`\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M|Z| ?[+-]\d\d:?\d\d)?\]?`;
const php = String.raw`\[(?:\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{6})? \d{4}|\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d [\w/+-]{1,40})\] `;
const container = String.raw`(?!\d{1,6} *\|)[\w.@/-]{1,40} {1,20}\|(?: |$)`;
const task = String.raw`@?[\w./-]{1,60}:[\w.-]{1,40}(?::[\w-]{1,40})?: `;
const nest = String.raw`\[Nest\] {1,2}\d{1,7} {1,4}- [\d/., :]{8,30}(?:[AP]M)? {1,8}(?:ERROR|FATAL|WARN) \[\w{1,60}\] `;
const prefix = new RegExp(
  String.raw`^[ \t]*(?:(?:${clock}[ \t]{1,4}|${php}|${nest}|\[WebServer\] ?|pw:\w{2,12} |\[\w{2,20} #\d{1,3}(?:-\d{1,3})?\] ?|E {3}(?: {4})?|${container}|@[\w-]{1,40}/${task}|⨯ {1,2}|\[ERROR\] |\[browser\] ))+`,
  'gm',
);
/** Quickly rules out texts without such prefixes. */
const mayHavePrefix =
  /^[ \t]*(?:\[?\d|\[\w{3} \w{3} |\[WebServer\]|\[Nest\]|pw:|\[\w{2,20} #|E {2}|@[\w-]{1,40}\/|[\w.@/-]{1,40} {1,20}\||⨯ |\[ERROR\]|\[browser\])/m;

/** Matches a text in which every line is quoted as in mail and Markdown. */
const quotedText = /^(?:[ \t]{0,8}>(?![ \t]*\d{1,6}[ \t]*\|).*(?:\n+|$))+$/;

/** Removes the prefixes that other programs add to each line. */
export function removeLinePrefixes(text: string): string {
  const unquoted = quotedText.test(text) ? text.replace(/^[ \t]*> ?/gm, '') : text;
  return mayHavePrefix.test(unquoted) ? unquoted.replace(prefix, '') : unquoted;
}

/** A name that no script defined. */
const undefinedName = /\b[\w$]{1,80} is not defined\b|Can't find variable: /;
/** Something that a script should have defined. */
const undefinedPart =
  /Cannot (?:read|set) properties of undefined|undefined is not an object|is not a (?:function|constructor)\b|\bis undefined\b/;

/** The syntax error if a server sends an HTML page in place of a script. */
const pageForScript = /Unexpected token '<'|expected expression, got '<'/;

/**
 * Creates a predicate for exceptions that follow from one of these missing scripts and so are not the cause (CS-7). For a script of another site,
 * only undefined names and the library's own name are certain enough.
 */
function createMissingScriptCheck(
  lost: readonly NetworkEntry[],
  isOwnUrl: (url: string) => boolean,
): (thrown: { readonly text: string; readonly time?: number }) => boolean {
  return ({ text, time = Infinity }) =>
    lost.some(
      (script) =>
        script.time <= time &&
        (undefinedName.test(text) ||
          namesLibrary(text, script.url) ||
          (isOwnUrl(script.url) && undefinedPart.test(text)) ||
          (script.failure?.includes('text/html') === true && pageForScript.test(text))),
    );
}

/** True if a text names the library that a script's URL contains: `highlight` in `/9.12.0/highlight.min.js`. */
function namesLibrary(text: string, url: string): boolean {
  const name = /\/([a-z]{4,60})[^/?#]{0,100}(?:[?#].*)?$/i.exec(url)?.[1]?.toLowerCase();
  return (
    name !== undefined &&
    text
      .toLowerCase()
      .split(/[^a-z]+/)
      .includes(name)
  );
}
