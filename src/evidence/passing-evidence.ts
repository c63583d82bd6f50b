import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { isServerError } from '../core/graphql-errors.js';
import { withoutQuery } from '../core/group-keys.js';
import { responseTexts } from '../core/classify/requests.js';
import { stripAnsi } from '../core/classify/strip-ansi.js';
import { normalise } from '../core/normalise.js';
import type { ConsoleEntry, NetworkEntry } from '../core/evidence.js';
import type { TestError } from '../core/failure.js';
import { networkEntry } from '../playwright/entry-shapes.js';
import { jsonOf } from '../json-of.js';

/** The limit for the notes of one run; each worker writes at most 2,000 lines. */
const mostLines = 20_000;
/** Shorter texts also occur in unrelated errors. */
const shortestText = 12;
/** What the page showed instead of what the test expected, as Playwright prints it. */
const receivedLine = /^[ \t]*Received(?: \w+)?:.*$/gm;

/** For one complaint in one suite run: how many tests passed despite it, and the most often that any of them had it. */
interface Heard {
  readonly passed: number;
  readonly timesInPassing: number;
  /**
   * Whether it goes with failing: tests without it passed more often, and most tests that had it failed. Those that
   * passed despite it merely do not check what it broke.
   */
  readonly tells: boolean;
  /** The same if it is an exception or an answer of 500 or above, of which one failing test in eleven that had it is enough. */
  readonly tellsIfSevere: boolean;
}

/** How the tests of a suite run ended, by test id. */
export interface Ended {
  readonly green: ReadonlySet<string>;
  readonly red: ReadonlySet<string>;
  /** How many different symptoms the red tests have. */
  readonly symptoms: number;
}

/**
 * The complaints of tests' pages, over all suite runs of a run. A complaint that passing tests have too does not count
 * in a failing one, unless it goes with failing. Occurrences beyond the most that any passing test had do count.
 */
export class PassingEvidence {
  readonly #heard = new Map<string, Heard>();

  /** Adds the notes of one suite run; a missing file counts as no notes. */
  async read(file: string, ended: Ended): Promise<void> {
    for (const [key, { passed, failed }] of testsByComplaint(await readComplaints(file), ended.green)) {
      const known = this.#heard.get(key) ?? unheard;
      const counts = { passed: passed.size, failed: failed.size };
      this.#heard.set(key, {
        passed: Math.max(passed.size, known.passed),
        timesInPassing: Math.max(0, ...passed.values(), known.timesInPassing),
        tells: known.tells || goesWithFailing(counts, ended, 1),
        tellsIfSevere: known.tellsIfSevere || goesWithFailing(counts, ended, clearly),
      });
    }
  }

  /**
   * Returns the entries, with those marked `common` that do not count. What is part of the test's own error always counts:
   * a text of the console, and the answer to a request that the test received in place of what it expected.
   */
  mark<T extends { readonly console: readonly ConsoleEntry[]; readonly network: readonly NetworkEntry[] }>(
    evidence: T,
    errors: readonly Pick<TestError, 'message'>[],
  ): T {
    if (this.#heard.size === 0) return evidence;
    const isError = ({ text }: ConsoleEntry) =>
      text.length >= shortestText && errors.some(({ message }) => message.includes(text));
    const received = errors.flatMap(({ message }) => stripAnsi(message).match(receivedLine) ?? []);
    const isReceived = (entry: NetworkEntry) =>
      responseTexts(entry).some((text) => received.some((line) => line.includes(text)));
    return {
      ...evidence,
      console: this.#marked(evidence.console, (entry) => (isError(entry) ? null : consoleKey(entry.text))),
      network: this.#marked(evidence.network, (entry) => (isReceived(entry) ? null : requestKey(entry))),
    };
  }

  #marked<E extends ConsoleEntry | NetworkEntry>(
    entries: readonly E[],
    keyOfEntry: (entry: E) => string | null,
  ): E[] {
    const met = new Map<string, number>();
    return entries.map((entry) => {
      const key = keyOfEntry(entry);
      const heard = key === null ? undefined : this.#heard.get(key);
      const tells = heard && (isSevere(entry) ? heard.tellsIfSevere : heard.tells);
      if (key === null || !heard || heard.passed === 0 || tells) return entry;
      const times = (met.get(key) ?? 0) + 1;
      met.set(key, times);
      return times <= heard.timesInPassing ? { ...entry, common: true } : entry;
    });
  }
}

const unheard: Heard = { passed: 0, timesInPassing: 0, tells: false, tellsIfSevere: false };

function isSevere(entry: ConsoleEntry | NetworkEntry): boolean {
  return 'text' in entry ? entry.type === 'pageerror' : isServerError(entry);
}

/** Clear majority: this many times as many tests fail with a complaint as pass with it. */
const clearly = 10;
/** This many different symptoms at once suggest one common cause rather than as many unrelated faults. */
const manySymptoms = 8;

/** `mostPassing`: how many tests may pass with it for each that fails, if there are tests without it. */
function goesWithFailing(
  { passed, failed }: Record<'passed' | 'failed', number>,
  { green, red, symptoms }: Ended,
  mostPassing: number,
): boolean {
  const without = { passed: green.size - passed, failed: Math.max(0, red.size - failed) };
  const others = without.passed + without.failed;
  // If every test has the complaint, there is nothing to compare with, and only a clear majority counts.
  if (others === 0) return failed >= passed * clearly || (failed > passed && symptoms >= manySymptoms);
  return failed * mostPassing > passed && failed / (failed + passed) > without.failed / others;
}

/** How often each test had a complaint, by test id. */
interface Tests {
  readonly passed: Map<string, number>;
  readonly failed: Map<string, number>;
}

/** A line of `complaints.ndjson`. */
const noted = z.object({
  test: z.string(),
  times: z.number(),
  complaint: z.union([
    z.object({ console: z.string() }).transform((complaint) => consoleKey(complaint.console)),
    networkEntry
      .pick({ method: true, url: true, resourceType: true, status: true, failure: true })
      .transform(requestKey),
  ]),
});

/** What a test's pages complained about, and how often. */
export interface Noted {
  readonly test: string;
  readonly times: number;
  /** Same as `consoleKey` or `requestKey` of the entry. */
  readonly key: string;
}

/** Reads the complaints of all tests of one suite run; a missing file counts as none. */
export async function readComplaints(file: string): Promise<Noted[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(0, mostLines)
    .flatMap((line) => {
      const { data } = noted.safeParse(jsonOf(line));
      return data ? [{ test: data.test, times: data.times, key: data.complaint }] : [];
    });
}

function testsByComplaint(all: readonly Noted[], green: ReadonlySet<string>): Map<string, Tests> {
  const complaints = new Map<string, Tests>();
  for (const { test, times, key } of all) {
    const tests = complaints.get(key) ?? { passed: new Map(), failed: new Map() };
    complaints.set(key, tests);
    const those = green.has(test) ? tests.passed : tests.failed;
    those.set(test, (those.get(test) ?? 0) + times);
  }
  return complaints;
}

const longest = 500;

/** Returns the key of a console entry's text; texts that differ only in what differs between runs have the same key. */
export function consoleKey(text: string): string {
  return `console ${normalise(text.slice(0, longest))}`;
}

/**
 * Returns the key of a request: its method, its URL without the query, and its status or failure. What a test sent itself has another key
 * than what a page sent: tests that pass although their page got that answer say nothing about it.
 */
export function requestKey({
  method,
  url,
  resourceType,
  status,
  failure,
}: Pick<NetworkEntry, 'method' | 'url' | 'resourceType' | 'status' | 'failure'>) {
  const sender = resourceType === 'api' ? 'test' : 'page';
  return withoutQuery(`${sender} ${method} ${url.slice(0, longest)} → ${status ?? failure}`);
}
