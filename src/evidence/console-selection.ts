import type { ConsoleEntry } from '../core/evidence.js';
import { boundedText, consoleParts, mapParts, roughlyBounded } from './bounded-text.js';
import { Latest } from './latest.js';
import type { MissingEvidence } from './missing-evidence.js';

/**
 * Selects the last `limit` console entries. The first page errors keep up to half of the places: an early error is often
 * the cause of what follows, and later lines must not displace it.
 */
export class ConsoleSelection {
  readonly #limit: number;
  readonly #firstErrors: ConsoleEntry[] = [];
  readonly #latest: Latest<ConsoleEntry>;

  constructor(limit: number) {
    this.#limit = Math.max(0, Math.floor(limit));
    this.#latest = new Latest(this.#limit);
  }

  push(entry: ConsoleEntry): void {
    const kept = mapParts(entry, consoleParts, roughlyBounded);
    const isFirst = kept.type === 'pageerror' && this.#firstErrors.length < Math.ceil(this.#limit / 2);
    if (isFirst) this.#firstErrors.push(kept);
    else this.#latest.push(kept);
  }

  /** How many entries were pushed, kept or not. */
  get pushed(): number {
    return this.#firstErrors.length + this.#latest.pushed;
  }

  /**
   * Returns the selection in chronological order, cleaned and bounded. `droppedBefore` entries were lost before they
   * were pushed.
   */
  take(missing: MissingEvidence, droppedBefore = 0): ConsoleEntry[] {
    const rest = this.#latest.toArray().sort(byTime);
    const places = this.#limit - this.#firstErrors.length;
    const chosen = [...this.#firstErrors, ...rest.slice(Math.max(0, rest.length - places))].sort(byTime);
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
