import { closest } from '../config/closest.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

/** The minimum length of an abbreviated id. */
const FEWEST_CHARACTERS = 4;

/** The ids to look up, with words for the problems. */
export interface KnownIds {
  /** For example `run` or `escalation`. */
  readonly noun: string;
  readonly ids: readonly string[];
  /** The command or word that lists them all. */
  readonly remedy: string;
}

/** Returns the ids that a word refers to: itself, or those that begin with it, if it has at least four characters. */
export function idsMeant(word: string, ids: readonly string[]): string[] {
  if (ids.includes(word)) return [word];
  return word.length < FEWEST_CHARACTERS ? [] : ids.filter((id) => id.startsWith(word));
}

/** Returns the one id that a word refers to; none or several are a `Problem`. */
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
