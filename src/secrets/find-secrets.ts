import type { Find, Found } from './found.js';
import { isMasked } from './masks.js';
import { findNamedValues } from './named-values.js';
import { findPlaces } from './places.js';
import { findTokens } from './token-shapes.js';
import type { View } from './view.js';
import { viewsOf } from './views.js';

/** A stretch that is to be masked, and what it reads without the escapes that are written there. */
export interface Secret extends Found {
  readonly value: string;
}

const always: readonly Find[] = [findTokens, findPlaces, findNamedValues];

/**
 * Everything in the text that is a secret by its shape, place or name, or that one of the others finds, however it is escaped;
 * those that overlap are one. They come in order.
 */
export function secretsIn(text: View, others: readonly Find[]): Secret[] {
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
