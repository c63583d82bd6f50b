/** Keeps the last `capacity` of what is pushed, in order, and counts the rest; memory does not grow with the input. */
export class Latest<T> {
  readonly #capacity: number;
  #items: T[] = [];
  #pushed = 0;

  constructor(capacity: number) {
    this.#capacity = Math.max(0, capacity);
  }

  push(item: T): void {
    this.#pushed += 1;
    this.#items.push(item);
    // Trimmed now and then and not at each push: shifting an array a million times is slow.
    if (this.#items.length > this.#capacity * 1.5 + 16) this.#trim();
  }

  /** How many were pushed, kept or not. */
  get pushed(): number {
    return this.#pushed;
  }

  toArray(): T[] {
    this.#trim();
    return [...this.#items];
  }

  #trim(): void {
    const extra = this.#items.length - this.#capacity;
    if (extra > 0) this.#items = this.#items.slice(extra);
  }
}
