import type { Note } from '../../core/guard/note.js';
import { type AriaLine, ariaLineOf } from '../../evidence/aria-line.js';
import { partOf } from '../../code/exports.js';
import { calleeOf, constantOf, nameOf, propertyOf } from '../../code/expressions.js';
import { parseSource } from '../../code/source-file.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import type { Judgement } from '../judgement.js';
import { violationOf } from '../rules.js';
import type { Replacement } from '../tests/compare.js';

/** What is known of the page on which a test was red. */
export interface SeenPage {
  /** Playwright's accessibility snapshot (YAML), or null where none was taken. */
  readonly ariaSnapshot: string | null;
  /** Playwright's error messages, with their call logs. */
  readonly errors: readonly string[];
}

/** What the replaced locators found and find. */
export type LocatorJudgement = Pick<Judgement, 'violations' | 'notes'>;

/** A locator that found its element in the red run was not the fault; what the new one finds is named for the reviewer. */
export function judgeLocators(
  replaced: readonly Replacement[],
  pages: readonly SeenPage[],
): LocatorJudgement {
  const distinct = [...new Map(replaced.map((one) => [`${one.old} ${one.now}`, one])).values()];
  const violations = distinct.flatMap(({ old, now, before, after }) => {
    const page = pages.find((one) => foundOne(old, one));
    if (!page || isNarrower(old, now)) return [];
    const { file, line, source } = after;
    const told = { file, line, before: before.source, after: source, detail: old };
    return [violationOf('locator-not-at-fault', told)];
  });
  const notes = distinct.map(({ old, now, after: { file, line } }) => {
    return { file, line, says: `${old} became ${now}`, locator: now };
  });
  return { violations, notes };
}

/** The notes, with what each new locator finds on the first of these accessibility snapshots that tells, or that none does. */
export function nameFound(notes: readonly Note[], snapshots: readonly string[]): Note[] {
  return notes.map(({ locator, ...note }) => {
    if (locator === undefined) return note;
    const found = snapshots.map((one) => findInSnapshot(locator, one)).find((one) => one.length > 0);
    const told = found
      ? `which finds ${found.slice(0, 3).join('; ')}`
      : 'and no snapshot of the page tells what that finds';
    return { ...note, says: `${note.says}, ${told}` };
  });
}

/** The old locator with something more to it still looks for the same thing. */
function isNarrower(old: string, now: string): boolean {
  return now.startsWith(`${old}.`) || now.endsWith(`.${old}`);
}

/** Whether a locator found just one element: Playwright said so of the failed step, or the snapshot has just one. */
function foundOne(code: string, { ariaSnapshot, errors }: SeenPage): boolean {
  const told = errors.some((error) => {
    const text = plain(error);
    const isOfIt = ['waiting for', 'Locator:', 'locator:'].some((one) =>
      text.includes(`${one} ${plain(code)}\n`),
    );
    return (
      isOfIt &&
      /locator resolved to <|unexpected value/.test(text) &&
      !/strict mode violation|element is not visible|intercepts pointer events/.test(text)
    );
  });
  // A name may come from elsewhere than the label, so that by roles and texts alone a snapshot is sure.
  const isSure = /^getBy(?:Role|Text)\(/.test(code) && !/\)\.\w+\([^()]*\)$/.test(code);
  return told || (isSure && ariaSnapshot !== null && findInSnapshot(code, ariaSnapshot).length === 1);
}

/** Quotes and spaces are a matter of taste: Playwright writes `'`, the guard `"`. */
function plain(code: string): string {
  return code
    .replaceAll(/[ \t]*\n\s*/g, '\n')
    .replaceAll(/["`]/g, "'")
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\{ | \}/g, (brace) => brace.trim());
}

type Matches = (text: string) => boolean;

const control = /^(?:textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|listbox)$/;

/** What an accessibility snapshot says of the elements that a locator finds; test ids, titles and selectors are not in it. */
const shownBy: Readonly<Record<string, (shown: AriaLine, wanted: Matches) => boolean>> = {
  getByRole: ({ role }, wanted) => wanted(role),
  getByText: ({ name, text }, wanted) => wanted(name) || wanted(text),
  getByLabel: ({ role, name }, wanted) => control.test(role) && wanted(name),
  getByAltText: ({ role, name }, wanted) => role === 'img' && wanted(name),
  getByPlaceholder: ({ role, text }, wanted) => role === '/placeholder' && wanted(text),
};

/** The lines of an accessibility snapshot that a locator finds; none for one that it cannot tell. */
function findInSnapshot(code: string, snapshot: string): string[] {
  const [statement] = nodesIn(parseSource('locator.js', code)?.program, 'body');
  const outer = nodeIn(statement, 'expression');
  const picked = propertyOf(calleeOf(outer));
  const call = picked ? nodeIn(calleeOf(outer), 'object') : outer;
  const [first, options] = nodesIn(call, 'arguments');
  const isShown = shownBy[nameOf(calleeOf(call)) ?? ''];
  const keys = nodesIn(options, 'properties').map((one) => nameOf(nodeIn(one, 'key')) ?? '');
  if (!isShown || !/^(?:first|last|)$/.test(picked ?? '')) return [];
  if (!keys.every((one) => /^(?:name|exact)$/.test(one))) return [];
  const given = (key: string) => options && partOf(options, key);
  const isExact = given('exact')?.['value'] === true;
  const wanted = matcherOf(first, isExact || nameOf(calleeOf(call)) === 'getByRole');
  const named = matcherOf(given('name'), isExact);
  const found = snapshot.split('\n').flatMap((line) => {
    const node = ariaLineOf(line);
    const isFound = node && isShown(node, wanted) && (!keys.includes('name') || named(node.name));
    return isFound ? [line.trim().replace(/^- /, '').replace(/:$/, '')] : [];
  });
  return picked ? found.slice(...(picked === 'first' ? [0, 1] : [-1])) : found;
}

function matcherOf(node: SyntaxNode | null | undefined, isExact: boolean): Matches {
  const value = node ? constantOf(node) : undefined;
  const { pattern, flags } = (node?.['regex'] ?? {}) as { pattern?: string; flags?: string };
  if (pattern !== undefined)
    return (text) => text !== '' && new RegExp(pattern, flags?.replace('g', '')).test(text);
  if (typeof value !== 'string') return () => false;
  return (text) =>
    text !== '' && (isExact ? text === value : text.toLowerCase().includes(value.toLowerCase()));
}
