import { type ConsoleEntry, type Evidence, isAlarming, type NetworkEntry } from '../model/evidence.js';
import { tellingErrors } from './complaint.js';
import { normalise } from './normalise.js';
import type { TestError } from '../model/failure.js';
import type { EvidenceText, Matcher } from './match.js';
import { isUnreached, mayExplain } from './unreached.js';
import { ownOrigin, splitUrl } from '../urls.js';
import { logBlocks, type NamedRequests, namedRequests } from './named-requests.js';
import {
  errorBody,
  errorPageText,
  failedRequests,
  failedResource,
  lostScripts,
  mayTell,
  quotedByJson,
  repeatsRequest,
  requestLine,
  responseTexts,
} from './requests.js';
import { stripAnsi } from '../visible-text.js';
import { markedStatusLine, withoutQuotes } from './without-quotes.js';

const longestLine = 600;

/** Shortens a text to `max` characters, two thirds from its beginning and the rest from its end, and each line to 600. */
export function bounded(text: string, max: number): string {
  const head = Math.floor((max * 2) / 3);
  const clipped =
    text.length > max ? `${text.slice(0, head)}\n${text.slice(text.length - (max - head))}` : text;
  if (clipped.length <= longestLine) return clipped;
  return clipped
    .split('\n')
    .map((line) => (line.length > longestLine ? line.slice(0, longestLine) : line))
    .join('\n');
}

/** How many characters of each channel are read. */
const most = { error: 12_000, stack: 4_000, console: 1_500, server: 24_000, page: 6_000 } as const;
const consoleEntries = 50;
const quietTypes = new Set(
  'log info debug warning dir dirxml table trace count timeEnd clear dialog'.split(' '),
);
/** Code of Node or of a package, printed above an exception that ends the process: the line that throws, not the error. */
const foreignCode =
  /^(?:node:|(?:file:\/\/)?(?:\/|[A-Za-z]:\\).{0,300}[\\/]node_modules[\\/]).{1,200}:\d{1,7}\n.{0,1000}\n[ \t]{0,1000}\^+[ \t]*$/gm;
/** Calls that run code in the page, so that its exception becomes the test's error. */
const inPage = /\.(?:evaluate\w*|\$\$?eval|waitForFunction): /;
/** The first script in a stack: its URL, or the file that a source map resolved it to. A URL without a position is part of the message. */
const scriptAddress =
  /https?:\/\/[^\s)]{1,500}?:\d{1,7}:\d{1,7}(?=[)\s]|$)|(?<=[(@\s])[\w.~@-][^\s():]{0,300}\.\w{2,6}:\d{1,7}:\d{1,7}(?=[)\s]|$)/;

/**
 * Returns the text of every channel of the evidence, cleaned up for the rules. With `isBare`, nothing but the test's own assertion shows that
 * something is wrong; what the page did not get from other sites then counts even if nothing complains about it.
 */
export function evidenceTexts(
  evidence: Evidence,
  { withoutNoise }: Pick<Matcher, 'withoutNoise'>,
  isBare = false,
): EvidenceText[] {
  const own = ownOrigin(evidence);
  const lost = lostScripts(evidence).filter((entry) => withoutNoise('network', requestLine(entry)) !== '');
  // An exception that follows from a script is never the cause, whoever else lacks the script.
  const everywhereLost = evidence.network.filter(
    (entry) => entry.common && entry.resourceType === 'script' && isUnreached(entry, own),
  );
  const isExplained = isCausedBy([...lost, ...everywhereLost], own);
  const missed = isBare
    ? evidence.network.filter(
        (entry) =>
          !own(entry.url) && (isUnreached(entry, own) ? mayExplain(entry, evidence) : lost.includes(entry)),
      )
    : missedOfOthers([...lost, ...everywhereLost], own, evidence);
  const isOfUnreached = aboutUnreached(evidence, own);
  const isFollowed = isCausedBy([...lost.filter(({ url }) => own(url)), ...missed], () => true);
  const failed = failedRequests(evidence, own);
  const { named, isOfOthers } = namedRequests(
    failed.filter(({ common }) => !common),
    evidence,
  );
  const answered = failed.length === 0 && isAnswered(evidence, own);
  const telling = [...named, ...missed];
  const isTold = telling.length > 0 || showsErrorPage(evidence);
  const isShared = !isTold && failed.some(mayTell);
  const isEcho = echoOf(telling);
  const consoleOf = (hint: boolean) =>
    consoleText(
      evidence,
      (entry) =>
        (entry.common || isExplained(entry) || isOfUnreached(entry.text)) === hint &&
        ownScript(entry, own) &&
        !isEcho(entry.text),
    );
  const errorOf = (hint: boolean) =>
    errorText(
      tellingErrors(evidence.errors).filter(
        (error) => (isExplainedError(isFollowed, error) || isUnreadable(error)) === hint,
      ),
    );
  const isUnreadable = ({ message }: TestError) =>
    failed.some(({ responseBody }) => quotedByJson(responseBody).some((quote) => message.includes(quote)));
  const linesOf = (requests: readonly NetworkEntry[]) => requests.map(requestLine).join('\n');
  const raw: EvidenceText[] = [
    { source: 'error', text: errorOf(false), answered },
    { source: 'error', text: errorOf(true), hint: true },
    { source: 'stack', text: stackText(evidence), answered },
    { source: 'stack', text: stepOfOwnMatcher(evidence) },
    { source: 'console', text: consoleOf(false) },
    { source: 'console', text: consoleOf(true), hint: true },
    { source: 'network', text: linesOf(telling) },
    { source: 'network', text: linesOf(failed.filter((entry) => !named.includes(entry))), hint: true },
    ...[...named, ...failed.filter((entry) => entry.common && mayTell(entry))].map((entry) => {
      const page = errorPageText(entry);
      return {
        // The status on an error page is only a hint, like what a server prints about requests.
        source: page === '' ? ('network' as const) : ('server' as const),
        text: stripAnsi(page || errorBody(entry)),
        shared: page !== '' || (entry.common ?? false),
      };
    }),
    {
      source: 'server',
      text: serverText(evidence, { requestFailed: isTold || isShared, isOfOthers }),
      shared: evidence.network.length > 0 && !isTold,
    },
    { source: 'page', text: bounded(evidence.ariaSnapshot ?? '', most.page) },
  ];
  return raw
    .map((channel) =>
      channel.text === '' ? channel : { ...channel, text: withoutNoise(channel.source, channel.text) },
    )
    .filter(({ text }) => text !== '');
}

/** What frameworks and their development servers show in place of a page whose loader or component failed on the server. */
const errorPage =
  /- heading "An error occurred\." \[level=1\]|<h1 id="title">An error occurred\.|\bInternal (?:Server )?Error\b|\bUnexpected (?:Server|Application) Error\b|\bserver-side exception\b|\bA server error occurred\b|(?:- heading "|<h1[^>]{0,80}>)5\d\d(?: \||"|$)/im;

/**
 * Whether the page shows an error of the server. The status may be 200: SvelteKit and others deliver the error on a client-side navigation,
 * and a streamed page (Astro) sends its status before its components are rendered.
 */
function showsErrorPage({ ariaSnapshot, errors }: Evidence): boolean {
  const messages = errors.map(({ message }) => stripAnsi(bounded(message, most.error)));
  return [bounded(ariaSnapshot ?? '', most.page), ...messages].some((text) => errorPage.test(text));
}

/**
 * Returns the server's output for the rules. Tests share one server. If this test's page got every answer and shows no error of the server,
 * only lines that passing tests do not have count.
 */
function serverText(
  { network, serverOutput, ofOthers = [] }: Evidence,
  { requestFailed, isOfOthers }: { readonly requestFailed: boolean } & Pick<NamedRequests, 'isOfOthers'>,
): string {
  const text = stripAnsi(bounded(withPlainStacks(serverOutput), most.server));
  const others = new Set(network.length > 0 && !requestFailed ? ofOthers.map(normalise) : []);
  const own = text.split('\n').filter((line) => others.size === 0 || !others.has(normalise(line)));
  const blocks = withoutOtherRequests(
    logBlocks(withoutLinePrefixes(own.join('\n'))).filter((block) => !isOfOthers(block)),
    network,
  );
  return blocks.join('\n').replace(foreignCode, '');
}

/** A request to a server in its own log, which names no host: `GET /api/orders`. */
const incoming = /\b(?:GET|POST|PUT|PATCH|DELETE) (\/[^\s"'?,;:)\]]{1,200})/g;
const anyError = /\berror\b|(?:Error|Exception)\b/i;

/** Drops the parts that name only requests of other tests, if an error names a request of this test. */
function withoutOtherRequests(
  blocks: readonly string[],
  network: readonly NetworkEntry[],
): readonly string[] {
  const asked = network.map(({ url }) => (splitUrl(url)?.path ?? url).replace(/\?.*$/, ''));
  const owners = blocks.map((block) => {
    const paths = [...block.matchAll(incoming)].map(([, path = '']) => path);
    // Routers name paths below their own.
    const isOwn = paths.some((path) => asked.some((requested) => requested.endsWith(path)));
    return { block, isOwn, isOther: paths.length > 0 && !isOwn };
  });
  const isKnown = owners.some(({ block, isOwn }) => isOwn && anyError.test(block));
  return isKnown ? owners.filter(({ isOther }) => !isOther).map(({ block }) => block) : blocks;
}

/** The stack of an exception in a line of JSON, as pino, winston, Serilog and Logback write it. */
const stackInJson = /"(?:stack|stack_?trace|exception|@x)": ?"((?:[^"\\\n]|\\.){1,8000})"/gi;

/** Puts stacks in JSON on lines of their own, as other loggers print them. */
function withPlainStacks(text: string): string {
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

/** Whether the page loaded, and no request to the app is still open. What the test sent itself is not the page's. */
function isAnswered({ network }: Evidence, own: (url: string) => boolean): boolean {
  const asked = network.filter(({ url, resourceType }) => resourceType !== 'api' && own(url));
  return asked.length > 0 && asked.every(({ status, failure }) => status !== null || failure !== null);
}

/** Whether an exception that the test hit inside the page comes from a script that did not load. */
function isExplainedError(isExplained: ReturnType<typeof isCausedBy>, { message }: TestError): boolean {
  return inPage.test(message) && isExplained({ text: stripAnsi(bounded(message, most.console)) });
}

/** Returns the scripts of other sites that did not load although code of the page needed them. */
function missedOfOthers(
  lost: readonly NetworkEntry[],
  own: (url: string) => boolean,
  { console, errors }: Evidence,
): NetworkEntry[] {
  return lost.filter((script) => {
    const isExplained = isCausedBy([script], own);
    return (
      !own(script.url) &&
      (console.some((entry) => !entry.common && isExplained(entry)) ||
        errors.some((error) => isExplainedError(isExplained, error)))
    );
  });
}

function errorText(errors: readonly TestError[]): string {
  const parts = errors.flatMap(({ message, causes, snippet }) => [message, ...causes, statusLines(snippet)]);
  const text = parts.filter((part) => part !== '').join('\n');
  return withoutQuotes(withoutLinePrefixes(plainQuotes(stripAnsi(bounded(text, most.error)))));
}

/** Replaces typographic quotation marks, which word processors and chats substitute for straight ones. */
function plainQuotes(text: string): string {
  if (!/[\u2018\u2019\u201C\u201D]/.test(text)) return text;
  return text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201C\u201D]/g, '"');
}

function statusLines(snippet: string | null): string {
  if (!snippet?.includes('>')) return '';
  return stripAnsi(bounded(snippet, most.stack)).split('\n').map(markedStatusLine).filter(Boolean).join('\n');
}

/**
 * Returns the failed step if the error has no `expect(`: the project's own matchers print anything, but their step shows that it was an
 * expectation.
 */
function stepOfOwnMatcher({ errors, failedStep }: Evidence): string {
  const isKnown = errors.some(({ message }) => message.includes('expect('));
  return isKnown ? '' : withoutQuotes(failedStep ?? '');
}

function stackText({ errors }: Evidence): string {
  const stacks = errors.map(({ stack, message }) =>
    stack?.startsWith(message) ? stack.slice(message.length) : stack,
  );
  return withoutQuotes(stripAnsi(bounded(stacks.filter(Boolean).join('\n'), most.stack)));
}

function consoleText(evidence: Evidence, counts: (entry: ConsoleEntry) => boolean): string {
  const isTelling = (entry: ConsoleEntry) => isAlarming(entry) || !quietTypes.has(entry.type);
  const telling = evidence.console.filter((entry) => isTelling(entry) && counts(entry));
  return telling
    .slice(-consoleEntries)
    .map(consoleLine)
    .filter((line) => !repeatsRequest(line, evidence.network))
    .map((text) => stripAnsi(bounded(text, most.console)))
    .join('\n');
}

/** Formats an entry for the rules. For a failed request, the browser gives the URL only as the entry's location. */
export function consoleLine({ type, text, location }: ConsoleEntry): string {
  if (text.startsWith(failedResource) && location !== '') return `${text} (${location})`;
  return type === 'pageerror' ? `Uncaught ${text.replace(/^Uncaught /, '')}` : text;
}

function ownScript({ location, stack, text }: ConsoleEntry, own: (url: string) => boolean): boolean {
  // The location of a failed request is the requested URL; the location of a script's error is the script's URL.
  const script = scriptAddress.exec(stack ?? '')?.[0] ?? location;
  return script === '' || own(script) || text.includes('CORS policy');
}

/** The status that an error names as the answer: `The response (404) …`, `Request failed: 500`. */
const answeredWith =
  /\b(?:request|response|respond\w{0,3}|answer\w{0,3}|return(?:s|ed)|fetch\w{0,3}|load\w{0,3}|http|status)\b[^\d\n]{0,40}\b([45]\d\d)\b/i;
/**
 * Returns a predicate: whether a text merely repeats the response of a failed request. A page that throws the text of a response
 * (`throw new Error(body.error)`) or its status (`The response (404) has no frame`, `GET /api/cart: 500`), or that finds HTML or nothing
 * where it expects JSON, is not the cause (CS-7).
 */
function echoOf(failed: readonly NetworkEntry[]): (text: string) => boolean {
  const sentences = failed.flatMap((entry) => [...responseTexts(entry), ...quotedByJson(entry.responseBody)]);
  const answers = failed.flatMap(({ status, url }) =>
    status === null
      ? []
      : [{ status: String(status), path: splitUrl(url)?.path.replace(/\?.*$/, '') ?? '/' }],
  );
  return (text) =>
    sentences.some((sentence) => text.includes(sentence)) ||
    answers.some(
      ({ status, path }) =>
        answeredWith.exec(text)?.[1] === status ||
        withoutPath(text, path)
          .match(/(?<![\w./])\d{3}\b/g)
          ?.includes(status),
    );
}

/**
 * Returns a text without its mention of a path, or nothing if it does not mention it. Clients put a prefix before the paths of their callers:
 * `GET /orders: 500` is about `/api/orders`.
 */
function withoutPath(text: string, path: string): string {
  const named = text.match(/\/[^\s?:'"`()]{2,200}/g)?.find((mention) => path.endsWith(mention));
  return named === undefined ? '' : text.replace(named, ' ');
}

/** How a page's exception says that a call failed, without saying which. */
const callFailed =
  /\bFailed to fetch\b|NetworkError when|\bLoad failed\b|\bNetwork ?Error\b|Network request failed/i;

/** Returns a predicate: whether a text is about a host that the machine does not reach, which explains nothing here. */
function aboutUnreached(evidence: Evidence, own: (url: string) => boolean): (text: string) => boolean {
  const missed = evidence.network.filter((entry) => isUnreached(entry, own));
  const needless = missed.filter((entry) => !mayExplain(entry, evidence));
  const isOnly = needless.length > 0 && needless.length === missed.length;
  const isOwnCallLost = evidence.network.some(
    ({ url, status, failure }) => own(url) && status === null && failure !== null,
  );
  return (text) =>
    needless.some(({ url }) => text.includes(splitUrl(url)?.host ?? url)) ||
    (isOnly && !isOwnCallLost && callFailed.test(text));
}

/**
 * The prefixes that CI systems, containers, task runners, loggers, PHP and pytest put before every line they print, and Next and Astro before
 * errors.
 */
const clock = String.raw`\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M|Z| ?[+-]\d\d:?\d\d)?\]?`;
const php = String.raw`\[(?:\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{6})? \d{4}|\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d [\w/+-]{1,40})\] `;
const container = String.raw`(?!\d{1,6} *\|)[\w.@/-]{1,40} {1,20}\|(?: |$)`;
const task = String.raw`@?[\w./-]{1,60}:[\w.-]{1,40}(?::[\w-]{1,40})?: `;
const nest = String.raw`\[Nest\] {1,2}\d{1,7} {1,4}- [\d/., :]{8,30}(?:[AP]M)? {1,8}(?:ERROR|FATAL|WARN) \[\w{1,60}\] `;
const prefix = new RegExp(
  String.raw`^[ \t]*(?:(?:${clock}[ \t]{1,4}|${php}|${nest}|\[WebServer\] ?|pw:\w{2,12} |\[\w{2,20} #\d{1,3}(?:-\d{1,3})?\] ?|E {3}(?: {4})?|${container}|@[\w-]{1,40}/${task}|⨯ {1,2}|\[ERROR\] |\[browser\] ))+`,
  'gm',
);
/** A cheap check for whether a text may contain such prefixes. */
const suspect =
  /^[ \t]*(?:\[?\d|\[\w{3} \w{3} |\[WebServer\]|\[Nest\]|pw:|\[\w{2,20} #|E {2}|@[\w-]{1,40}\/|[\w.@/-]{1,40} {1,20}\||⨯ |\[ERROR\]|\[browser\])/m;

/** Matches a text in which every line is quoted as in mail and Markdown. */
const quoted = /^(?:[ \t]{0,8}>(?![ \t]*\d{1,6}[ \t]*\|).*(?:\n+|$))+$/;

/** Removes the prefixes that other programs put before each line, so that every line begins as it was originally printed. */
export function withoutLinePrefixes(text: string): string {
  const own = quoted.test(text) ? text.replace(/^[ \t]*> ?/gm, '') : text;
  return suspect.test(own) ? own.replace(prefix, '') : own;
}

/** A name that no script defined. */
const undefinedName = /\b[\w$]{1,80} is not defined\b|Can't find variable: /;
/** Something that a script should have defined. */
const undefinedPart =
  /Cannot (?:read|set) properties of undefined|undefined is not an object|is not a (?:function|constructor)\b|\bis undefined\b/;

/** What engines print if they get a page in place of a script. */
const pageForScript = /Unexpected token '<'|expected expression, got '<'/;

/**
 * Returns a predicate: whether code of the page threw because one of these scripts did not load, so that the exception is not the
 * cause (CS-7). For another site's script, only undefined names and the library's own name are certain enough.
 */
function isCausedBy(
  lost: readonly NetworkEntry[],
  own: (url: string) => boolean,
): (thrown: { readonly text: string; readonly time?: number }) => boolean {
  return ({ text, time = Infinity }) =>
    lost.some(
      (script) =>
        script.time <= time &&
        (undefinedName.test(text) ||
          namesLibrary(text, script.url) ||
          (own(script.url) && undefinedPart.test(text)) ||
          (script.failure?.includes('text/html') === true && pageForScript.test(text))),
    );
}

/** Whether a text names the library that a script's URL contains: `highlight` in `/9.12.0/highlight.min.js`. */
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
