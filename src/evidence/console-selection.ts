import type { ConsoleEntry } from '../core/evidence.js';
import { boundedText, consoleParts, mapParts, roughlyBounded } from './bounded-text.js';
import { Newest } from './newest.js';
import type { MissingEvidence } from './missing-evidence.js';

/**
 * Selects the last `limit` console entries. The first page errors keep up to half of the places: an early error is often
 * the cause of what follows, and later lines must not displace it.
 */
export class ConsoleSelection {
  readonly #limit: number;
  readonly #firstErrors: number;
  readonly #kept: Newest<ConsoleEntry>;

  constructor(limit: number) {
    this.#limit = Math.max(0, Math.floor(limit));
    this.#firstErrors = Math.ceil(this.#limit / 2);
    this.#kept = new Newest(Math.max(1, this.#limit), isPageError, this.#firstErrors);
  }

  push(entry: ConsoleEntry): void {
    this.#kept.push(mapParts(entry, consoleParts, roughlyBounded));
  }

  /** How many entries were pushed, kept or not. */
  get pushed(): number {
    return this.#kept.pushed;
  }

  /**
   * Returns the selection in chronological order, cleaned and bounded. `droppedBefore` entries were lost before they
   * were pushed.
   */
  take(missing: MissingEvidence, droppedBefore = 0): ConsoleEntry[] {
    const entries = this.#kept.entries();
    const first = entries.filter(isPageError).slice(0, this.#firstErrors);
    const rest = entries.filter((entry) => !first.includes(entry)).sort(byTime);
    const places = this.#limit - first.length;
    const chosen = [...first, ...rest.slice(Math.max(0, rest.length - places))].sort(byTime);
    const total = this.pushed + droppedBefore;
    if (chosen.length < total) missing.cut(`${chosen.length} of ${total} console entries were kept`);
    return chosen.map((entry) =>
      mapParts(entry, consoleParts, (text, part) => boundedText(text, part, missing)),
    );
  }
}

function byTime(a: ConsoleEntry, b: ConsoleEntry): number {
  return a.time - b.time;
}

function isPageError({ type }: ConsoleEntry): boolean {
  return type === 'pageerror';
}
