import type { HealResult } from '../heal/progress.js';
import type { Problem } from '../problem.js';

/** How a run ends: with a result, with a problem that prevents it from continuing, or with an error. */
export type Ending =
  | { readonly kind: 'healed'; readonly healed: HealResult }
  | { readonly kind: 'problem'; readonly problem: Problem }
  | { readonly kind: 'error'; readonly error: unknown };

/** Undoes one step of opening a run. */
type Undo = (ending: Ending) => Promise<void> | void;

/** A stack of functions that close what a run has opened. */
export class Teardown {
  readonly #undo: Undo[] = [];

  /** Registers a function that closes something open, or about to be opened. */
  add(undo: Undo): void {
    this.#undo.unshift(undo);
  }

  /** Calls each function once, the newest first, even if others fail. Returns the ending, or the first error from closing. */
  async run(ending: Ending): Promise<Ending> {
    let ended = ending;
    for (const undo of this.#undo.splice(0)) {
      try {
        await undo(ended);
      } catch (error) {
        if (ended.kind !== 'error') ended = { kind: 'error', error };
      }
    }
    return ended;
  }
}
