/**
 * How many precious entries are kept in addition to the newest. The first are kept, since causes come before
 * consequences.
 */
const preciousKept = 100;

/** Keeps the newest entries of a stream, and the first precious ones among those that are older. */
export class Newest<T> {
  readonly #limit: number;
  readonly #isPrecious: (entry: T) => boolean;
  readonly #ring: T[] = [];
  readonly #precious: T[] = [];
  #pushed = 0;

  constructor(limit: number, isPrecious: (entry: T) => boolean) {
    this.#limit = limit;
    this.#isPrecious = isPrecious;
  }

  push(entry: T): void {
    const at = this.#pushed % this.#limit;
    const evicted = this.#ring[at];
    if (evicted !== undefined && this.#precious.length < preciousKept && this.#isPrecious(evicted)) {
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

  /** The number of entries that were not kept. */
  get dropped(): number {
    return this.#pushed - this.#ring.length - this.#precious.length;
  }
}
