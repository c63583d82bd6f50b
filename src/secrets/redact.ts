import { secretsIn, type Secret } from './find-secrets.js';
import type { Find } from './found.js';
import { type Mask, masksWritten, shownBetween, withMasks } from './masks.js';

/** What a mask says in place of a secret. */
export type Label = (secret: Secret) => string;

/** Masking may uncover what a secret had hidden; more often than this only a text does that was made to. */
const mostRounds = 5;

/**
 * Masks the secrets that say by their name, place or shape that they are secrets (EV-9), and what `others` find. Redacting twice
 * changes nothing. Without a label, what comes out is the same in every run and environment.
 */
export function redact(text: string, others?: readonly Find[], label?: Label): string {
  return shownBetween(text, masksIn(text, others, label), { from: 0, to: text.length });
}

/** What `redact` masks, and what was masked before, in order. */
export function masksIn(
  text: string,
  others: readonly Find[] = [],
  label: Label = ({ kind }) => kind,
): readonly Mask[] {
  let masks = masksWritten(text);
  for (let round = 0; round < mostRounds; round += 1) {
    const secrets = secretsIn(withMasks(text, masks), others);
    if (secrets.length === 0) break;
    const found = secrets.map((one) => ({
      start: one.start,
      end: one.end,
      shown: `[masked: ${label(one)}]`,
    }));
    masks = outermost([...masks, ...found]);
  }
  return masks;
}

/** Without those within others. */
function outermost(masks: readonly Mask[]): Mask[] {
  const all: Mask[] = [];
  for (const one of masks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (one.start >= (all.at(-1)?.end ?? 0)) all.push(one);
  }
  return all;
}
