import { diffArrays } from 'diff';
import type { Hunk } from '../core/blame.js';
import { nearest } from './similar.js';

/**
 * What changes say about a name: what it became, everywhere or in one of several places in a line (the test id in
 * `id="pay" data-testid="pay"`); that it was removed without a successor; or nothing.
 */
export type Renaming =
  | { readonly kind: 'renamed' | 'renamed-in-part'; readonly to: string; readonly file: string }
  | { readonly kind: 'removed' }
  | { readonly kind: 'ambiguous' }
  | { readonly kind: 'unknown' };

/** Returns what these changes turned a name (a test id, a text, a column) into. */
export function renamedIn(hunks: readonly Hunk[], name: string): Renaming {
  const touched = hunks.filter(({ old }) => old.some((line) => holds(line, name)));
  if (touched.length === 0) return { kind: 'unknown' };
  const found = touched.flatMap((hunk) => successorsIn(hunk, name).map((to) => ({ to, file: hunk.file })));
  const [first] = found;
  // Moved rather than renamed: an added line still contains the name.
  const stays = (line: string) =>
    holds(
      found.reduce((text, { to }) => text.replaceAll(to, ''), line),
      name,
    );
  if (hunks.some(({ now }) => now.some(stays))) return renamedInPart(touched, name) ?? { kind: 'ambiguous' };
  if (!first) return { kind: 'removed' };
  return found.every(({ to }) => to === first.to) ? { kind: 'renamed', ...first } : { kind: 'ambiguous' };
}

/** Returns the new name if it took one of several places in every changed line that had the old one, and nothing else changed there. */
function renamedInPart(touched: readonly Hunk[], name: string): Renaming | null {
  const found = touched.flatMap(({ file, old, now }) =>
    old.flatMap((line, index) => {
      const changed = old.length === now.length ? (now[index] ?? '') : '';
      return holds(line, name) ? [{ file, to: replacedOnce(line, changed, name) }] : [];
    }),
  );
  const [first] = found;
  if (!first || first.to === null || found.some(({ to }) => to !== first.to)) return null;
  return { kind: 'renamed-in-part', to: first.to, file: first.file };
}

function replacedOnce(line: string, changed: string, name: string): string | null {
  const found = placesOf(line, name).flatMap((at) => replacedAt([at], [line, changed], name) ?? []);
  return found.length === 1 ? (found[0] ?? null) : null;
}

function successorsIn({ old, now }: Hunk, name: string): string[] {
  return old.flatMap((line, index) => {
    if (!holds(line, name)) return [];
    const aligned = old.length === now.length ? now.slice(index, index + 1) : now;
    const found = aligned.flatMap((one) => replacementOf(name, line, one) ?? []);
    // Lines in which nothing else changed are the most reliable.
    const surest = found.some(({ isAll }) => isAll) ? found.filter(({ isAll }) => isAll) : found;
    return onlyOrNearest(name, new Set(surest.map(({ to }) => to)));
  });
}

/** Of several candidates, as in a block with added and removed lines, picks the one that is similar by a clear margin. */
function onlyOrNearest(name: string, found: ReadonlySet<string>): string[] {
  if (found.size <= 1) return [...found];
  const to = nearest(name, [...found]);
  return to === null ? [] : [to];
}

/** Whether a text contains a name as a whole: `pay` is not in `pay-later`. */
export function holds(text: string, name: string): boolean {
  return placesOf(text, name).length > 0;
}

/** Returns where a text contains a name as a whole. */
export function placesOf(text: string, name: string): number[] {
  const places: number[] = [];
  if (name === '') return places;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + name.length]];
    const isInWord =
      (isWord(name[0] ?? '') && isWord(before)) || (isWord(name.at(-1) ?? '') && isWord(after));
    if (!isInWord) places.push(at);
  }
  return places;
}

/** Returns what the first group of a pattern, which must have the flag `g`, captures in each of its matches. */
export function captured(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, one = '']) => one);
}

function isWord(character: string): boolean {
  return /^[\p{L}\p{N}_$-]$/u.test(character);
}

/** A name or a text as it may stand between quotes or tags. */
const plain = /^[^"'`<>{}\n]{1,200}$/;

/** Returns what a changed line has in place of `old`, and whether nothing else changed; null if the lines do not tell. */
function replacementOf(
  old: string,
  line: string,
  changed: string,
): { readonly to: string; readonly isAll: boolean } | null {
  const [a, b] = [line.trim(), changed.trim()];
  const places = placesOf(a, old);
  const exact = replacedAt(places, [a, b], old);
  const to = exact ?? (places.length === 1 ? byTokens(a, b, old) : null)?.trim() ?? '';
  return to !== old && plain.test(to) ? { to, isAll: exact !== null } : null;
}

/** Returns what replaced a name in these places of a line, if it is the same in all of them and nothing else in the line changed. */
function replacedAt(
  places: readonly number[],
  [a, b]: readonly [string, string],
  name: string,
): string | null {
  const kept = [...places, a.length].map((at, index) =>
    a.slice(index === 0 ? 0 : (places[index - 1] ?? 0) + name.length, at),
  );
  const [head = ''] = kept;
  const length = (b.length - kept.join('').length) / places.length;
  if (length < 1 || !Number.isInteger(length)) return null;
  const to = b.slice(head.length, head.length + length);
  return kept.join(to) === b && plain.test(to) ? to.trim() : null;
}

/** Returns the replacement if at least half of the line stayed, and the old words were replaced separately from the rest. */
function byTokens(a: string, b: string, old: string): string | null {
  const [before, after] = [tokensOf(a), tokensOf(b)];
  const words = tokensOf(old);
  const start = before.findIndex((_, at) => words.every((word, index) => before[at + index] === word));
  if (start < 0) return null;
  let [left, same, text] = [0, 0, ''];
  let whole = true;
  for (const { value, added, removed } of diffArrays(before, after)) {
    const [from, to] = [left, left + (added ? 0 : value.length)];
    if (!added) left = to;
    const overlaps = from < start + words.length && to > start;
    if (removed && overlaps) whole &&= from >= start && to <= start + words.length;
    else if (added && from > start && from <= start + words.length) text += value.join('');
    else if (!removed && !added) {
      same += value.filter((one) => one.trim() !== '').length;
      if (overlaps) text += before.slice(Math.max(from, start), Math.min(to, start + words.length)).join('');
    }
  }
  const all = before.filter((one) => one.trim() !== '').length;
  return whole && text !== '' && same >= all / 2 ? text : null;
}

function tokensOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_$-]+|\s+|./gu) ?? [];
}
