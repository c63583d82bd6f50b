import { createMatcher } from '../core/classify/match.js';
import { asPrinted } from '../core/diagnosis.js';
import { type ConsoleEntry, hasFailed, type NetworkEntry, unanswered } from '../core/evidence.js';
import type { AgentContext } from './context.js';

const mostEntries = 8;
const mostRequests = 6;
const mostFrames = 4;
const linesAround = 8;
const serverLinesShown = 20;
const matcher = createMatcher();

/** Returns the errors and warnings in the page's console, with the stack frames of exceptions. Repetitions are merged; noise is left out. */
export function consoleLines({ console }: Pick<AgentContext, 'console'>): string[] {
  const telling = console.filter(
    ({ type }) => type === 'pageerror' || type === 'error' || type === 'warning',
  );
  const said = new Map<string, number>();
  for (const entry of telling) {
    const text = consoleText(entry);
    if (matcher.withoutNoise('console', text).trim() !== '') said.set(text, (said.get(text) ?? 0) + 1);
  }
  const texts = [...said].map(([text, times]) => (times > 1 ? `${text} (${times} times)` : text));
  return texts.slice(-mostEntries);
}

function consoleText({ type, text, location, stack, common }: ConsoleEntry): string {
  const frames = (stack ?? '').split('\n').filter((line) => /^\s*at |@\S+:\d+:\d+$/.test(line));
  const head = `${type}: ${text} ${location}`.trim();
  const also = common ? ' (also seen in passing tests)' : '';
  return [`${head}${also}`, ...frames.slice(0, mostFrames).map((line) => `    ${line.trim()}`)].join('\n');
}

const calls = new Set(['document', 'fetch', 'xhr', 'api']);

/** Returns the requests that failed or were not answered in time, with the beginning of their answers, without repetitions. */
export function requestLines({ network }: Pick<AgentContext, 'network'>): string[] {
  const isOpen = ({ status, resourceType }: NetworkEntry) => status === null && calls.has(resourceType);
  const failed = network.filter((entry) => hasFailed(entry) || isOpen(entry));
  const lines = failed.map(({ method, url, status, failure, responseBody, common }) => {
    const body = responseBody ? ` ${responseBody.replaceAll(/\s+/g, ' ').slice(0, 200)}` : '';
    return `${method} ${url} → ${status ?? failure ?? unanswered}${body}${common ? ' (also seen in passing tests)' : ''}`;
  });
  const quiet = lines.filter((line) => matcher.withoutNoise('network', line) !== '');
  return [...new Set(quiet)].slice(-mostRequests);
}

/**
 * Returns the last lines of the servers' output; if the line that decided, or the one before it, is above them, the lines from there on:
 * the stack of one exception of a compiled server is longer than what is shown.
 */
export function serverLines({
  serverOutput,
  diagnosis,
}: Pick<AgentContext, 'serverOutput' | 'diagnosis'>): string[] {
  const all = serverOutput.split('\n');
  const said = diagnosis.why.find(({ source }) => source === 'server')?.evidence;
  const at = said === undefined ? -1 : all.findLastIndex((line) => line.includes(asPrinted(said)));
  const last = Math.max(0, all.length - serverLinesShown);
  const first = at < 0 ? last : Math.min(last, Math.max(0, at - 1));
  return all.slice(first, first + serverLinesShown);
}

/** Returns the part of the accessibility snapshot that best matches what a locator looked for; empty if no locator failed. */
export function pageExcerpt(given: Pick<AgentContext, 'ariaSnapshot' | 'diagnosis'>): string[] {
  const { ariaSnapshot, diagnosis } = given;
  const { category, facts } = diagnosis;
  if (category !== 'ui-error' || !ariaSnapshot || facts.locator === null) return [];
  const words = [...new Set(facts.locator.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? [])];
  const lines = ariaSnapshot.split('\n');
  const scores = lines.map((line) => words.filter((word) => line.toLowerCase().includes(word)).length);
  const best = Math.max(0, scores.indexOf(Math.max(...scores)));
  return lines.slice(Math.max(0, best - linesAround), best + linesAround + 1);
}
