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
