import { type Candidate, changedNames } from './candidates.js';

/** A name that more candidates change than this (`return`, say, or a word of a licence) does not bind them. */
const MAX_SHARING = 5;

/**
 * Candidates of one commit that change the same rare name: a definition and its uses, say. One change is most often broken as a whole, so a search
 * that takes them out together comes to a fault of several hunks in as many runs as to one of a single hunk. The first of each group are
 * in the order of the candidates.
 */
export function belonging(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const groups = new Map(candidates.map((one) => [one, [one]]));
  for (const sharing of byRareName(candidates)) {
    const joined = [...new Set(sharing.flatMap((one) => groups.get(one) ?? []))];
    for (const one of joined) groups.set(one, joined);
  }
  return [...new Set(groups.values())];
}

function byRareName(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const byName = new Map<string, Candidate[]>();
  for (const one of candidates)
    for (const name of changedNames([one])) {
      const key = `${one.step} ${name}`;
      byName.set(key, [...(byName.get(key) ?? []), one]);
    }
  return [...byName.values()].filter(({ length }) => length > 1 && length <= MAX_SHARING);
}
