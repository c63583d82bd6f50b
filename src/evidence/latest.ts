/** Keeps the last `capacity` items in order and counts all; memory does not grow with the input. */
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
    // Does not trim at each push: shifting an array a million times is slow.
    if (this.#items.length > this.#capacity * 1.5 + 16) this.#trim();
  }

  /** How many items were pushed, kept or not. */
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
