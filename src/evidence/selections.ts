import { type ConsoleEntry, type NetworkEntry, hasFailed } from '../model/evidence.js';
import {
  cleanAndClip,
  consoleParts,
  mapParts,
  clipRoughly,
  requestParts,
  type EvidenceNotes,
} from './bounded-text.js';

/** Selects entries from a stream. Groups with lower numbers have priority. Memory use depends only on the limit. */
class Selection<T extends { readonly time: number }> {
  readonly #limit: number;
  readonly #groups: T[][] = [];
  /** How many entries were pushed, including those that were dropped. */
  pushed = 0;

  constructor(limit: number) {
    this.#limit = Math.max(0, Math.floor(limit));
  }

  /** Adds an entry to a group, which keeps its newest entries. */
  push(entry: T, group: number): void {
    this.pushed += 1;
    const entries = (this.#groups[group] ??= []);
    entries.push(entry);
    // Removes entries in batches, because removing one from the front takes as long as removing many.
    if (entries.length > 2 * this.#limit + 100) entries.splice(0, entries.length - this.#limit);
  }

  countEntries(group: number): number {
    return this.#groups[group]?.length ?? 0;
  }

  /** Returns the selection in chronological order. */
  selectEntries(): T[] {
    const chosen: T[] = [];
    for (const entries of this.#groups.filter(Boolean)) {
      const room = this.#limit - chosen.length;
      if (room > 0) chosen.push(...entries.slice(-room));
    }
    return chosen.sort((a, b) => a.time - b.time);
  }
}

/**
 * Selects the last `limit` console entries, but reserves up to half of them for the first page errors: an early error is often the cause of later
 * ones.
 */
export class ConsoleSelection {
  readonly #selection: Selection<ConsoleEntry>;
  readonly #firstErrors: number;

  constructor(limit: number) {
    this.#selection = new Selection(limit);
    this.#firstErrors = Math.ceil(Math.max(0, limit) / 2);
  }

  push(entry: ConsoleEntry): void {
    const isFirst = entry.type === 'pageerror' && this.#selection.countEntries(0) < this.#firstErrors;
    this.#selection.push(mapParts(entry, consoleParts, clipRoughly), isFirst ? 0 : 1);
  }

  /** Returns the selection in chronological order, cleaned and bounded. */
  selectEntries(notes: EvidenceNotes): ConsoleEntry[] {
    const chosen = this.#selection.selectEntries();
    const { pushed } = this.#selection;
    if (chosen.length < pushed) notes.noteCut(`${chosen.length} of ${pushed} console entries were kept`);
    return chosen.map((entry) =>
      mapParts(entry, consoleParts, (text, part) => cleanAndClip(text, part, notes)),
    );
  }
}

const assets = new Set(['script', 'stylesheet', 'image', 'font', 'media', 'manifest', 'texttrack']);

/**
 * Selects up to `limit` requests: failed ones first, then the latest calls, then the latest scripts, styles and
 * pictures. An entry may carry more than a `NetworkEntry`, such as references to bodies.
 */
export class NetworkSelection<T extends NetworkEntry> {
  readonly #selection: Selection<T>;

  constructor(limit: number) {
    this.#selection = new Selection(limit);
  }

  push(entry: T): void {
    const group = hasFailed(entry) ? 0 : assets.has(entry.resourceType) ? 2 : 1;
    this.#selection.push(mapParts<NetworkEntry>(entry, requestParts, clipRoughly) as T, group);
  }

  /** How many entries were pushed, including those that were dropped. */
  get pushed(): number {
    return this.#selection.pushed;
  }

  /** Returns the selection in chronological order, not yet cleaned (`cleanRequest`). */
  selectEntries(): T[] {
    return this.#selection.selectEntries();
  }
}
