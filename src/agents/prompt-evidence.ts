import { outcomeOf } from '../core/classify/requests.js';
import { createMatcher } from '../core/classify/match.js';
import { middleCut } from '../core/fenced.js';
import { normalise } from '../core/normalise.js';
import { asPrinted } from '../core/diagnosis.js';
import { type ConsoleEntry, hasFailed, type NetworkEntry, unanswered } from '../core/evidence.js';
import { saysError } from '../evidence/server-output.js';
import type { AgentContext } from './context.js';

const mostEntries = 8;
const mostRequests = 6;
const mostFrames = 4;
const linesAround = 8;
const serverLinesShown = 20;
const matcher = createMatcher();

/**
 * Returns the errors and warnings in the page's console, with the stack frames of exceptions, the one that decided first. Repetitions are merged;
 * noise is left out.
 */
export function consoleLines({ console, diagnosis }: Pick<AgentContext, 'console' | 'diagnosis'>): string[] {
  const telling = console.filter(
    ({ type }) => type === 'pageerror' || type === 'error' || type === 'warning',
  );
  const said = new Map<string, number>();
  for (const entry of telling) {
    const text = consoleText(entry);
    if (matcher.withoutNoise('console', text).trim() !== '') said.set(text, (said.get(text) ?? 0) + 1);
  }
  const decided = diagnosis.why
    .filter(({ source }) => source === 'console')
    .map(({ evidence }) => asPrinted(evidence).replace(/^Uncaught /, ''));
  const decides = ([text]: readonly [string, number]) => decided.some((one) => text.includes(one));
  const all = [...said];
  const [first, rest] = [all.filter(decides), all.filter((one) => !decides(one))];
  return [...first.slice(0, mostEntries), ...rest.slice(-mostEntries)]
    .slice(0, mostEntries)
    .map(([text, times]) => `${withDifferences(text)}${times > 1 ? ` (${times} times)` : ''}`);
}

const longestEntry = 1_200;
/** A line that differs, and the components around it, as React prints them; a list of advice has one space after its dash. */
const difference = /^\s*[+-]\s{2,}\S/;
const component = /^\s{2,}(?:<|\.\.\.)/;

/** Shortens a long text of the console to its beginning and the lines of its comparison, and says what is left out and where it is. */
function withDifferences(text: string): string {
  if (text.length <= longestEntry) return text;
  const lines = text.split('\n');
  const isKept = (at: number) =>
    at < 2 ||
    component.test(lines[at] ?? '') ||
    [at - 1, at, at + 1].some((one) => difference.test(lines[one] ?? ''));
  if (!lines.some((line) => difference.test(line))) return middleCut(text, longestEntry, 'console.log');
  return middleCut(withGaps(lines, isKept, 'console.log').join('\n'), 2 * longestEntry, 'console.log');
}

/** Returns the lines that are shown, and in place of the others how much was left out and which file has it. */
function withGaps(lines: readonly string[], isShown: (at: number) => boolean, file: string): string[] {
  const shown: string[] = [];
  let left = 0;
  const end = () => {
    if (left > 0) shown.push(`[… ${left} characters, in ${file} …]`);
    left = 0;
  };
  for (const [at, line] of lines.entries()) {
    if (!isShown(at)) left += line.length + 1;
    else {
      end();
      shown.push(line);
    }
  }
  end();
  return shown;
}

function consoleText({ type, text, location, stack, common }: ConsoleEntry): string {
  const frames = (stack ?? '').split('\n').filter((line) => frame.test(line));
  const head = `${type}: ${text} ${location}`.trim();
  const also = common ? ' (also seen in passing tests)' : '';
  return [`${head}${also}`, ...ownFrames(frames, mostFrames).map((line) => `    ${line.trim()}`)].join('\n');
}

const frame = /^\s*at |@\S+:\d+:\d+$/;
const ofPackages =
  /[\\/]node_modules[\\/]|(?:^|[\s(@/])(?:node:|wasm:|node_modules[\\/])|[ (]<anonymous>\)?$|\(index \d+\)|\/\.vite\/deps\//;

/** Leaves the first frames of the project in each stack, or else the topmost one, and counts the others. */
function ownFrames(lines: readonly string[], most = Infinity): string[] {
  const shown: string[] = [];
  let stack: string[] = [];
  const end = () => {
    const own = stack.filter((line) => !ofPackages.test(line)).slice(0, most);
    const kept = own.length > 0 ? own : stack.slice(0, 1);
    const left = stack.length - kept.length;
    // The fields of an error follow its last frame.
    const brace = /\s\{$/.exec(stack.at(-1) ?? '')?.[0] ?? '';
    if (left === 0) shown.push(...kept);
    else shown.push(...kept.map((line) => line.replace(/\s\{$/, '')), `    … and ${left} more${brace}`);
    stack = [];
  };
  for (const line of lines) {
    if (frame.test(line)) stack.push(line);
    else {
      end();
      shown.push(line);
    }
  }
  end();
  return shown;
}

/** Shows what a log says again once, and how often: an entry is a line with those that are indented or close a bracket. */
function withoutRepetitions(lines: readonly string[]): string[] {
  const entries: string[][] = [];
  for (const line of lines) {
    const last = entries.at(-1);
    if (last && /^[\s}\])]/.test(line)) last.push(line);
    else entries.push([line]);
  }
  const times = new Map<string, number>();
  for (const entry of entries) {
    const key = normalise(entry.join('\n'));
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  return entries.flatMap((entry) => {
    const key = normalise(entry.join('\n'));
    const said = times.get(key) ?? 0;
    times.delete(key);
    return said > 1 ? [...entry.slice(0, -1), `${entry.at(-1)} (${said} times)`] : said === 1 ? entry : [];
  });
}

const calls = new Set(['document', 'fetch', 'xhr', 'api']);

/** Returns the requests that failed or were not answered in time, with the beginning of their answers, without repetitions. */
export function requestLines({ network, pageUrl }: Pick<AgentContext, 'network' | 'pageUrl'>): string[] {
  const isOpen = ({ status, resourceType }: NetworkEntry) => status === null && calls.has(resourceType);
  const failed = network.filter((entry) => hasFailed(entry) || isOpen(entry));
  const lines = failed.map((entry) => {
    const { method, url, status, failure, responseBody, common } = entry;
    const body = responseBody ? ` ${responseBody.replaceAll(/\s+/g, ' ').slice(0, 200)}` : '';
    const how = status === null && failure === null ? unanswered : outcomeOf(entry);
    return `${method} ${url} → ${how}${refusedBy(entry, pageUrl)}${body}${common ? ' (also seen in passing tests)' : ''}`;
  });
  const quiet = lines.filter((line) => matcher.withoutNoise('network', line) !== '');
  const first = (line: string) => failed[lines.indexOf(line)];
  return [...new Set(quiet)].slice(-mostRequests).map((line) => `${line}${traceOf(first(line))}`);
}

/** Names the backend's trace of a request (https://www.w3.org/TR/trace-context/) and what the server says of its time, where they are sent. */
function traceOf(entry: NetworkEntry | undefined): string {
  const trace = entry?.requestHeaders['traceparent'] ?? entry?.responseHeaders['traceparent'];
  const timing = entry?.responseHeaders['server-timing'];
  const said = [
    ...(trace ? [`traceparent: ${trace}`] : []),
    ...(timing ? [`server-timing: ${timing.slice(0, 200)}`] : []),
  ];
  return said.length === 0 ? '' : ` (${said.join('; ')})`;
}

/** Headers of an answer for which a browser keeps it from a page. */
const refusing = [
  'x-frame-options',
  'cross-origin-resource-policy',
  'cross-origin-embedder-policy',
  'content-security-policy',
  'permissions-policy',
];

/** Says with which headers a server had the browser keep its answer from the page of another origin. */
function refusedBy({ failure, url, responseHeaders }: NetworkEntry, pageUrl: string | null): string {
  if (!failure?.includes('BLOCKED_BY')) return '';
  const headers = refusing.flatMap((name) => {
    const value = responseHeaders[name];
    return value === undefined ? [] : [`${name}: ${value.slice(0, 120)}`];
  });
  const [asked, page] = [url, pageUrl ?? ''].map((one) => (URL.canParse(one) ? new URL(one).origin : null));
  const origins = page && asked !== page ? ` for a page of ${page}` : '';
  return headers.length > 0 || origins !== ''
    ? ` (refused${origins}${headers.length > 0 ? ` by ${headers.join('; ')}` : ''})`
    : '';
}

/** How many lines after the one that decided are shown in any case; its stack and the fields of its object are more. */
const linesAfterDecided = 3;

/**
 * Returns the lines of the servers' output that say most, in order: what decided, other errors, the latest of the rest, and last what passing tests
 * have, too. Of stacks the project's frames, nothing twice.
 */
export function serverLines({
  serverOutput,
  ofOthers = [],
  diagnosis,
}: Pick<AgentContext, 'serverOutput' | 'ofOthers' | 'diagnosis'>): string[] {
  // A development server also watches what is written during the run.
  const lines = serverOutput
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes('.self-heal/runs/'));
  const all = withoutRepetitions(ownFrames(lines));
  const said = diagnosis.why.find(({ source }) => source === 'server')?.evidence;
  const decided = said === undefined ? -1 : all.findLastIndex((line) => line.includes(asPrinted(said)));
  const others = new Set(ofOthers);
  const isPart = (line: string, at: number) => at <= decided + linesAfterDecided || /^[\s}\])]/.test(line);
  const after = all.slice(decided + 1).findIndex((line, n) => !isPart(line, decided + 1 + n));
  const end = Math.min(decided + serverLinesShown - 1, after === -1 ? all.length : decided + 1 + after);
  const rankOf = (line: string, at: number) => {
    if (decided >= 0 && at >= decided - 1 && at < end) return 0;
    if (others.has(line)) return 3;
    return saysError(line) ? 1 : 2;
  };
  const ranks = all.map(rankOf);
  const byValue = [...all.keys()].toSorted((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || b - a);
  const shown = new Set(byValue.slice(0, serverLinesShown));
  return withGaps(all, (at) => shown.has(at), 'server.log');
}

/**
 * Returns the part of the accessibility snapshot around what a locator found, or that best matches what it looked for; empty if no locator
 * failed.
 */
export function pageExcerpt(given: Pick<AgentContext, 'ariaSnapshot' | 'diagnosis' | 'error'>): string[] {
  const { ariaSnapshot, diagnosis, error } = given;
  const { category, facts } = diagnosis;
  if (category !== 'ui-error' || !ariaSnapshot || facts.locator === null) return [];
  const words = [...new Set(facts.locator.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? [])];
  const lines = ariaSnapshot.split('\n');
  const scores = lines.map((line) => words.filter((word) => line.toLowerCase().includes(word)).length);
  const received = /^\s*Received(?: \w+)?:\s*"(.+)"$/m.exec(error.message)?.[1];
  const found = received === undefined ? -1 : lines.findIndex((line) => line.includes(received));
  const best = found >= 0 ? found : Math.max(0, scores.indexOf(Math.max(...scores)));
  return lines.slice(Math.max(0, best - linesAround), best + linesAround + 1);
}
