import { hasFailed, type NetworkEntry } from '../core/evidence.js';
import { mapParts, requestParts, roughlyBounded } from './bounded-text.js';
import { Newest } from './newest.js';

const assets = new Set(['script', 'stylesheet', 'image', 'font', 'media', 'manifest', 'texttrack']);

/**
 * Selects up to `limit` requests: failed ones first, then the latest calls, then the latest scripts, styles and
 * pictures. An entry may carry more than a `NetworkEntry`, such as references to bodies.
 */
export class NetworkSelection<T extends NetworkEntry> {
  readonly #limit: number;
  readonly #failed: Newest<T>;
  readonly #calls: Newest<T>;
  readonly #assets: Newest<T>;

  constructor(limit: number) {
    this.#limit = Math.max(0, Math.floor(limit));
    const room = Math.max(1, this.#limit);
    this.#failed = new Newest(room);
    this.#calls = new Newest(room);
    this.#assets = new Newest(room);
  }

  push(entry: T): void {
    const kept = mapParts<NetworkEntry>(entry, requestParts, roughlyBounded) as T;
    if (hasFailed(kept)) this.#failed.push(kept);
    else if (assets.has(kept.resourceType)) this.#assets.push(kept);
    else this.#calls.push(kept);
  }

  /** How many entries were pushed, kept or not. */
  get pushed(): number {
    return this.#failed.pushed + this.#calls.pushed + this.#assets.pushed;
  }

  /** Returns the selection in chronological order, not yet cleaned (`cleanRequest`). */
  take(): T[] {
    const chosen: T[] = [];
    for (const group of [this.#failed, this.#calls, this.#assets]) {
      const entries = group.entries();
      chosen.push(...entries.slice(Math.max(0, entries.length - (this.#limit - chosen.length))));
    }
    return chosen.sort((a, b) => a.time - b.time);
  }
}
