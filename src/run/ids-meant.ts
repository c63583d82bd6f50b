import { closest } from '../config/closest.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

/** A shorter beginning of an id means nothing. */
const FEWEST_CHARACTERS = 4;

/** What ids are looked for, for the problems. */
export interface KnownIds {
  /** `run`, `escalation`. */
  readonly noun: string;
  readonly ids: readonly string[];
  /** The command or word that names them all. */
  readonly remedy: string;
}

/** The ids that a word means: itself, or those that it is the beginning of, in four characters at least. */
export function idsMeant(word: string, ids: readonly string[]): string[] {
  if (ids.includes(word)) return [word];
  return word.length < FEWEST_CHARACTERS ? [] : ids.filter((id) => id.startsWith(word));
}

/** The one id that a word means; none and several are `Problem`s. */
export function idMeant(word: string, { noun, ids, remedy }: KnownIds): Result<string, Problem> {
  const [one, ...others] = idsMeant(word, ids);
  if (one !== undefined && others.length === 0) return ok(one);
  if (one === undefined) {
    const near = closest(word, ids);
    const hint = near === null ? '' : `. Did you mean ${near}?`;
    return err({ kind: 'usage', message: `there is no ${noun} ${word}${hint}`, remedy });
  }
  const list = [one, ...others].map((id) => `  ${id}`).join('\n');
  return err({
    kind: 'usage',
    message: `${word} matches several ${noun} ids`,
    detail: list,
    remedy: 'Type more of the id.',
  });
}
