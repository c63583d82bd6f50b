/** The project's tree, which one task has at a time; when it is free, the most useful of those that wait gets it. */
export class Tree {
  #isHeld = false;
  readonly #line: { readonly rank: () => number; readonly enter: () => void }[] = [];

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Waits for the tree. The task with the lowest rank is next, and of several the one that waits longest. */
  async enter(rank: () => number): Promise<void> {
    if (this.#isHeld) await new Promise<void>((enter) => void this.#line.push({ rank, enter }));
    this.#isHeld = true;
  }

  leave(): void {
    const [next] = this.#line.toSorted((a, b) => a.rank() - b.rank());
    this.#isHeld = next !== undefined;
    if (!next) return;
    this.#line.splice(this.#line.indexOf(next), 1);
    next.enter();
  }
}

/** The agents that may work at the same time, each in a copy of its own. */
export class Agents {
  readonly #free: number[];
  readonly #line: { readonly copy: number | null; readonly enter: (copy: number) => void }[] = [];
  atWork = 0;

  /** How many there are. */
  readonly count: number;

  constructor(count: number) {
    this.count = count;
    this.#free = Array.from({ length: count }, (_, copy) => copy);
  }

  /** Waits for an agent, in line, and returns the number of its copy, that of its last one if it is free; null once the signal is aborted. */
  async take(last: number | null, signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return null;
    const found = this.#choose(last);
    if (found !== undefined) return found;
    return new Promise((resolve) => {
      const waiting = { copy: last, enter: (copy: number) => done(copy) };
      const done = (copy: number | null) => {
        signal.removeEventListener('abort', stop);
        resolve(copy);
      };
      const stop = () => {
        this.#line.splice(this.#line.indexOf(waiting), 1);
        done(null);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#line.push(waiting);
    });
  }

  give(copy: number): void {
    this.atWork -= 1;
    this.#free.push(copy);
    const next = this.#line.shift();
    if (next) next.enter(this.#choose(next.copy) ?? copy);
  }

  #choose(last: number | null): number | undefined {
    const [first] = this.#free.toSorted((a, b) => a - b);
    const copy = last !== null && this.#free.includes(last) ? last : first;
    if (copy === undefined) return undefined;
    this.#free.splice(this.#free.indexOf(copy), 1);
    this.atWork += 1;
    return copy;
  }
}
