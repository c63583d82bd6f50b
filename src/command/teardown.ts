import type { HealResult } from '../heal/progress.js';
import type { Problem } from '../problem.js';

/** How a run ends: with a result, because it cannot go on, or by an error. */
export type Ending =
  | { readonly kind: 'healed'; readonly healed: HealResult }
  | { readonly kind: 'problem'; readonly problem: Problem }
  | { readonly kind: 'error'; readonly error: unknown };

/** Undoes one step of opening a run. */
type Undo = (ending: Ending) => Promise<void> | void;

/** Everything that a run has opened, each with what closes it. */
export class Teardown {
  readonly #undo: Undo[] = [];

  /** Registers what closes something that is open, or about to be opened. */
  add(undo: Undo): void {
    this.#undo.unshift(undo);
  }

  /** Closes everything once, the newest first, each even if another fails. Returns how the run has really ended: the first error counts. */
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
