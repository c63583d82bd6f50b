import type { Find, Found } from './found.js';
import { isMasked, type Mask, masksWritten, shownBetween, withMasks } from './masks.js';
import { findNamedValues } from './named-values.js';
import { findPlaces } from './places.js';
import { findTokens } from './token-shapes.js';
import type { View } from './view.js';
import { viewsOf } from './views.js';

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

/** A stretch that is to be masked, and what it reads without the escapes that are written there. */
interface Secret extends Found {
  readonly value: string;
}

const always: readonly Find[] = [findTokens, findPlaces, findNamedValues];

/**
 * Everything in the text that is a secret by its shape, place or name, or that one of the others finds, however it is escaped;
 * those that overlap are one. They come in order.
 */
function secretsIn(text: View, others: readonly Find[]): Secret[] {
  const found = viewsOf(text).flatMap((view) =>
    [...others, ...always].flatMap((find) =>
      find(view.text).map((one): Secret => {
        const [start, end] = view.source(one.start, one.end);
        return { ...one, start, end, value: view.text.slice(one.start, one.end) };
      }),
    ),
  );
  return joined(found.filter(({ start, end, value }) => end > start && !isMasked(value)));
}

/** Of those that overlap the longest says what it is, and the earlier finder of two that are as long. */
function joined(found: readonly Secret[]): Secret[] {
  const all: Secret[] = [];
  const inOrder = [...found].sort((a, b) => a.start - b.start || b.end - a.end);
  for (const one of inOrder) {
    const last = all.at(-1);
    if (last === undefined || one.start >= last.end) all.push(one);
    else if (one.end > last.end) all[all.length - 1] = union(last, one);
  }
  return all;
}

function union(a: Secret, b: Secret): Secret {
  const longer = b.end - b.start > a.end - a.start ? b : a;
  return { ...longer, start: a.start, end: b.end };
}
