import type { Find, Found } from './found.js';
import { isMasked, type Mask, masksWritten, shownBetween, withMasks } from './masks.js';
import { findNamedValues } from './named-values.js';
import { findPlaces } from './places.js';
import { findTokens } from './token-shapes.js';
import type { View } from './view.js';
import { viewsOf } from './views.js';

/** Returns what a mask says in place of a secret. */
export type Label = (secret: Secret) => string;

/** Masking may uncover another secret. Only texts crafted for it need more rounds than this. */
const mostRounds = 5;

/**
 * Masks secrets recognized by name, place or shape (EV-9), and those that `others` find. Redacting twice changes nothing.
 * Without a label, the result is the same in every run and environment.
 */
export function redact(text: string, others?: readonly Find[], label?: Label): string {
  return shownBetween(text, masksIn(text, others, label), { from: 0, to: text.length });
}

/** Returns what `redact` masks, including masks already in the text, in order. */
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

/** Drops masks that lie within others. */
function outermost(masks: readonly Mask[]): Mask[] {
  const all: Mask[] = [];
  for (const one of masks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (one.start >= (all.at(-1)?.end ?? 0)) all.push(one);
  }
  return all;
}

/** A range to be masked, and its value with escapes undone. */
interface Secret extends Found {
  readonly value: string;
}

const always: readonly Find[] = [findTokens, findPlaces, findNamedValues];

/**
 * Finds every secret in the text by shape, place or name or with one of `others`, however it is escaped. Overlapping ones are
 * joined. The result is in order.
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

/** Joins overlapping secrets. The longest determines the kind; of equally long ones, the first found. */
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
