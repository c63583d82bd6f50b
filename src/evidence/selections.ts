import { type ConsoleEntry, type NetworkEntry, hasFailed } from '../model/evidence.js';
import {
  boundedText,
  consoleParts,
  mapParts,
  roughlyBounded,
  requestParts,
  type MissingEvidence,
} from './bounded-text.js';

/** Keeps the newest entries of a stream, and the first precious ones among those that are older, since causes come before consequences. */
export class Newest<T> {
  readonly #limit: number;
  readonly #isPrecious: (entry: T) => boolean;
  readonly #preciousKept: number;
  readonly #ring: T[] = [];
  readonly #precious: T[] = [];
  #pushed = 0;

  /** `limit` is how many of the newest are kept, at least 1; `preciousKept` is how many precious ones are kept in addition. */
  constructor(limit: number, isPrecious: (entry: T) => boolean = () => false, preciousKept = 100) {
    this.#limit = limit;
    this.#isPrecious = isPrecious;
    this.#preciousKept = preciousKept;
  }

  push(entry: T): void {
    const at = this.#pushed % this.#limit;
    const evicted = this.#ring[at];
    if (evicted !== undefined && this.#precious.length < this.#preciousKept && this.#isPrecious(evicted)) {
      this.#precious.push(evicted);
    }
    this.#ring[at] = entry;
    this.#pushed += 1;
  }

  /** In order of arrival. */
  entries(): T[] {
    const oldest = this.#pushed % this.#limit;
    return [...this.#precious, ...this.#ring.slice(oldest), ...this.#ring.slice(0, oldest)];
  }

  /** How many entries were pushed, kept or not. */
  get pushed(): number {
    return this.#pushed;
  }

  /** The number of entries that were not kept. */
  get dropped(): number {
    return this.#pushed - this.#ring.length - this.#precious.length;
  }
}

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
