import { readFile } from 'node:fs/promises';
import { withoutQuery } from '../core/group-keys.js';
import { normalise } from '../core/normalise.js';
import type { ConsoleEntry, NetworkEntry } from '../core/evidence.js';
import { field, numberOr, parseJson, stringOr } from './unknown-fields.js';

/** What is read of one run's notes; a worker writes at most 200 lines. */
const mostLines = 5_000;

/**
 * What the pages of passing tests complained of, over all suite runs of a run: it decides nothing in failing tests. What a
 * failing test had more often than any that passed is its own.
 */
export class PassingEvidence {
  readonly #times = new Map<string, number>();

  /** Adds what a suite run noted; without a file nothing was. */
  async read(file: string): Promise<void> {
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const line of text.split('\n').slice(0, mostLines)) this.#add(parseJson(line));
  }

  /** The entries, those marked that passing tests have as well. */
  mark<T extends { readonly console: readonly ConsoleEntry[]; readonly network: readonly NetworkEntry[] }>(
    evidence: T,
  ): T {
    if (this.#times.size === 0) return evidence;
    return {
      ...evidence,
      console: this.#marked(evidence.console, ({ text }) => consoleKey(text)),
      network: this.#marked(evidence.network, requestKey),
    };
  }

  #add(noted: unknown): void {
    const complaint = field(noted, 'complaint');
    const key = keyOf(complaint);
    const times = numberOr(field(noted, 'times'), 1);
    if (key !== null) this.#times.set(key, Math.max(times, this.#times.get(key) ?? 0));
  }

  #marked<E>(entries: readonly E[], keyOfEntry: (entry: E) => string): E[] {
    const left = new Map(this.#times);
    return entries.map((entry) => {
      const key = keyOfEntry(entry);
      const times = left.get(key) ?? 0;
      left.set(key, times - 1);
      return times > 0 ? { ...entry, common: true } : entry;
    });
  }
}

function keyOf(complaint: unknown): string | null {
  const text = stringOr(field(complaint, 'console'), null);
  if (text !== null) return consoleKey(text);
  const url = stringOr(field(complaint, 'url'), null);
  if (url === null) return null;
  const method = stringOr(field(complaint, 'method'), '');
  const status = numberOr(field(complaint, 'status'), null);
  return requestKey({ method, url, status, failure: stringOr(field(complaint, 'failure'), null) });
}

const longest = 500;

function consoleKey(text: string): string {
  return `console ${normalise(text.slice(0, longest))}`;
}

function requestKey({
  method,
  url,
  status,
  failure,
}: Pick<NetworkEntry, 'method' | 'url' | 'status' | 'failure'>) {
  return withoutQuery(`${method} ${url.slice(0, longest)} → ${status ?? failure}`);
}
