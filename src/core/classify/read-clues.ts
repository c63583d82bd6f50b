import type { EvidenceSource } from '../diagnosis.js';
import type { ConsoleEntry, Evidence } from '../evidence.js';
import { tellingErrors } from '../complaint.js';
import type { TestError } from '../failure.js';
import { bounded } from './bounded.js';
import { echoOf } from './echo.js';
import { wantOf } from './lost-script.js';
import type { Clue, Matcher } from './match.js';
import { ownOrigin } from './own-origin.js';
import {
  errorBody,
  failedRequests,
  failedResource,
  lostScripts,
  repeatsRequest,
  requestLine,
} from './requests.js';
import { stripAnsi } from './strip-ansi.js';
import { withoutLinePrefixes } from './without-line-prefixes.js';
import { markedStatusLine, withoutQuotes } from './without-quotes.js';

/** Characters that are read of each channel. */
const most = { error: 12_000, stack: 4_000, console: 1_500, server: 24_000, page: 6_000 } as const;
const consoleEntries = 50;
const quietTypes = new Set([
  'log',
  'info',
  'debug',
  'warning',
  'dir',
  'dirxml',
  'table',
  'trace',
  'count',
  'timeEnd',
  'clear',
]);
/** What Node prints of its own code above an exception that ends it: a line of a loader, not what is wrong. */
const nodesOwnCode = /^node:internal\/.{1,200}:\d{1,7}\n.{0,1000}\n[ \t]{0,1000}\^+[ \t]*$/gm;
/** Calls that run code in the page, whose exception is the test's error. */
const inPage = /\.(?:evaluate\w*|\$\$?eval|waitForFunction): /;
/** The first script that a stack names: by its address, or by the file that a source map led to. */
const scriptAddress =
  /https?:\/\/[^\s)]{1,500}|(?<=[(@\s])[\w.~@-][^\s():]{0,300}\.\w{2,6}:\d{1,7}:\d{1,7}(?=[)\s]|$)/;

/** Reads what every channel of the evidence says, ready for the rules. */
export function readClues(evidence: Evidence, { withoutNoise }: Pick<Matcher, 'withoutNoise'>): Clue[] {
  const own = ownOrigin(evidence);
  const lost = lostScripts(evidence).filter((entry) => withoutNoise('network', requestLine(entry)) !== '');
  const wants = wantOf(lost, own);
  const missed = lost.filter((script) => !own(script.url) && throwsFor(wantOf([script], own), evidence));
  const allFailed = evidence.network.length > 0 ? failedRequests(evidence, own) : [];
  const failed = [...allFailed.filter(({ common }) => !common), ...missed];
  const commonFailed = allFailed.filter(({ common }) => common);
  const says = (mere: boolean) => {
    const entries = evidence.console.filter((entry) => (entry.common || wants(entry)) === mere);
    return consoleText({ ...evidence, console: entries }, own, echoOf(failed));
  };
  const fails = (mere: boolean) =>
    errorText(tellingErrors(evidence.errors).filter((error) => thrownFor(wants, error) === mere));
  const read = [
    clueOf('error', fails(false)),
    { ...clueOf('error', fails(true)), hints: true },
    clueOf('stack', stackText(evidence)),
    clueOf('console', says(false)),
    { ...clueOf('console', says(true)), hints: true },
    clueOf('network', failed.map(requestLine).join('\n')),
    { ...clueOf('network', commonFailed.map(requestLine).join('\n')), hints: true },
    ...evidence.network
      .filter((entry) => own(entry.url) && !entry.common)
      .map((entry) => clueOf('network', stripAnsi(errorBody(entry)))),
    clueOf('server', serverText(evidence, failed.length > 0)),
    clueOf('page', bounded(evidence.ariaSnapshot ?? '', most.page)),
  ];
  return read.filter((clue) => clue.text !== '');

  function clueOf(source: EvidenceSource, raw: string): Clue {
    return { source, text: raw === '' ? raw : withoutNoise(source, raw) };
  }
}

/**
 * Tests run side by side on one server: what it complains of while a page got every answer it asked for is the business of
 * another test. Where no page was seen (an API test, the suite itself) its words are all there is.
 */
function serverText({ network, serverOutput }: Evidence, requestFailed: boolean): string {
  if (network.length > 0 && !requestFailed) return '';
  return withoutLinePrefixes(stripAnsi(bounded(serverOutput, most.server))).replace(nodesOwnCode, '');
}

/** Whether an exception that the test met inside the page is for want of a script. */
function thrownFor(wants: ReturnType<typeof wantOf>, { message }: TestError): boolean {
  return inPage.test(message) && wants({ text: stripAnsi(bounded(message, most.console)) });
}

function throwsFor(wants: ReturnType<typeof wantOf>, { console, errors }: Evidence): boolean {
  return console.some((entry) => wants(entry)) || errors.some((error) => thrownFor(wants, error));
}

function errorText(errors: readonly TestError[]): string {
  const parts = errors.flatMap(({ message, causes, snippet }) => [message, ...causes, statusLines(snippet)]);
  const text = parts.filter((part) => part !== '').join('\n');
  return withoutQuotes(withoutLinePrefixes(plainQuotes(stripAnsi(bounded(text, most.error)))));
}

/** Typographic quotation marks, which word processors and chats make of those that programs print. */
function plainQuotes(text: string): string {
  if (!/[\u2018\u2019\u201C\u201D]/.test(text)) return text;
  return text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201C\u201D]/g, '"');
}

function statusLines(snippet: string | null): string {
  if (!snippet?.includes('>')) return '';
  return stripAnsi(bounded(snippet, most.stack)).split('\n').map(markedStatusLine).filter(Boolean).join('\n');
}

function stackText({ errors }: Evidence): string {
  const stacks = errors.map(({ stack, message }) =>
    stack?.startsWith(message) ? stack.slice(message.length) : stack,
  );
  return withoutQuotes(stripAnsi(bounded(stacks.filter(Boolean).join('\n'), most.stack)));
}

function consoleText(
  evidence: Evidence,
  own: (url: string) => boolean,
  echoes: (entry: ConsoleEntry) => boolean,
): string {
  const telling = evidence.console.filter(
    (entry) => !quietTypes.has(entry.type) && ownScript(entry, own) && !echoes(entry),
  );
  return telling
    .slice(-consoleEntries)
    .map(consoleLine)
    .filter((line) => !repeatsRequest(line, evidence.network))
    .map((text) => stripAnsi(bounded(text, most.console)))
    .join('\n');
}

/** An entry as the rules read it; the browser names the address of a failed request beside its text alone. */
function consoleLine({ type, text, location }: ConsoleEntry): string {
  if (text.startsWith(failedResource) && location !== '') return `${text} (${location})`;
  return type === 'pageerror' ? `Uncaught ${text.replace(/^Uncaught /, '')}` : text;
}

function ownScript({ location, stack, text }: ConsoleEntry, own: (url: string) => boolean): boolean {
  // A failed request's location is the address asked for, a script's error has that of the script.
  const script = scriptAddress.exec(stack ?? '')?.[0] ?? location;
  return script === '' || own(script) || text.includes('CORS policy');
}
