import { readFile } from 'node:fs/promises';
import { withoutQuery } from '../core/group-keys.js';
import { normalise } from '../core/normalise.js';
import type { ConsoleEntry, NetworkEntry } from '../core/evidence.js';
import { field, numberOr, parseJson, stringOr } from './unknown-fields.js';

/** What is read of one run's notes; a worker writes at most 200 lines. */
const mostLines = 5_000;

/** What the pages of passing tests complained of, over all suite runs of a run: it decides nothing in failing tests. */
export class PassingEvidence {
  readonly #seen = new Set<string>();

  /** Adds what a suite run noted; without a file nothing was. */
  async read(file: string): Promise<void> {
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const line of text.split('\n').slice(0, mostLines)) this.#add(parseJson(line));
  }

  /** The entries, those marked that passing tests have as well. */
  mark<T extends { readonly console: readonly ConsoleEntry[]; readonly network: readonly NetworkEntry[] }>(
    evidence: T,
  ): T {
    if (this.#seen.size === 0) return evidence;
    return {
      ...evidence,
      console: evidence.console.map((entry) => this.#marked(entry, consoleKey(entry.text))),
      network: evidence.network.map((entry) => this.#marked(entry, requestKey(entry))),
    };
  }

  #add(noted: unknown): void {
    const text = stringOr(field(noted, 'console'), null);
    if (text !== null) this.#seen.add(consoleKey(text));
    const url = stringOr(field(noted, 'url'), null);
    if (url === null) return;
    const method = stringOr(field(noted, 'method'), '');
    const status = numberOr(field(noted, 'status'), null);
    this.#seen.add(requestKey({ method, url, status, failure: stringOr(field(noted, 'failure'), null) }));
  }

  #marked<E>(entry: E, key: string): E {
    return this.#seen.has(key) ? { ...entry, common: true } : entry;
  }
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
