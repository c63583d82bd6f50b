import type { Note } from '../../core/guard/note.js';
import { type AriaLine, ariaLineOf } from '../../evidence/aria-line.js';
import { calleeOf, constantOf, nameOf, propertyOf } from '../../code/expressions.js';
import { parseSource } from '../../code/source-file.js';
import { partOf } from '../../code/sources.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import type { Findings, LocatorChange } from '../../guard/findings.js';
import { violationOf } from '../../guard/rules.js';

/** What is known about the page on which a test was red. */
export interface SeenPage {
  /** Playwright's accessibility snapshot (YAML), or null if none was taken. */
  readonly ariaSnapshot: string | null;
  /** Playwright's error messages, with their call logs. */
  readonly errors: readonly string[];
}

/** Judges replaced locators: one that found its element in the red run was not at fault. Each new locator is named for the reviewer. */
export function judgeLocators(
  changes: readonly LocatorChange[],
  pages: readonly SeenPage[],
): Pick<Findings, 'violations' | 'notes'> {
  const distinct = [...new Map(changes.map((one) => [`${one.old} ${one.now}`, one])).values()];
  const violations = distinct.flatMap(({ old, now, file, line }) => {
    if (!pages.some((one) => foundOne(old, one))) return [];
    return [violationOf('locator-not-at-fault', { file, line, before: old, after: now })];
  });
  const notes = distinct.map(({ old, now, file, line }) => {
    return { file, line, says: `${old} was changed to ${now}`, locator: now };
  });
  return { violations, notes };
}

/** Adds to the notes what each new locator finds in the first accessibility snapshot that has a match, or that none has. */
export function nameFound(notes: readonly Note[], snapshots: readonly string[]): Note[] {
  return notes.map(({ locator, ...note }) => {
    if (locator === undefined) return note;
    const found = snapshots.map((one) => findInSnapshot(locator, one)).find((one) => one.length > 0);
    const told = found
      ? `which finds ${found.slice(0, 3).join('; ')}`
      : 'and no snapshot of the page shows what it finds';
    return { ...note, says: `${note.says}, ${told}` };
  });
}

/** Whether a locator found its element: Playwright's error says so, or the snapshot has exactly one match. */
function foundOne(code: string, { ariaSnapshot, errors }: SeenPage): boolean {
  const told = errors.some((error) => {
    const text = plain(error);
    const isOfIt = ['waiting for', 'Locator:', 'locator:'].some((one) =>
      text.includes(`${one} ${plain(code)}\n`),
    );
    return (
      isOfIt &&
      /locator resolved to <|unexpected value/.test(text) &&
      !/strict mode violation|element is not visible|intercepts pointer events|resolved to 0 elements/.test(
        text,
      )
    );
  });
  // A snapshot is conclusive only for roles and texts, since an accessible name may come from something other than a label.
  const isSure = /^getBy(?:Role|Text)\(/.test(code) && !/\)\.\w+\([^()]*\)$/.test(code);
  return told || (isSure && ariaSnapshot !== null && findInSnapshot(code, ariaSnapshot).length === 1);
}

/** Normalizes quotes and spaces: Playwright writes `'`, the guard `"`. */
function plain(code: string): string {
  return code
    .replaceAll(/[ \t]*\n\s*/g, '\n')
    .replaceAll(/["`]/g, "'")
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\{ | \}/g, (brace) => brace.trim());
}

type Matches = (text: string) => boolean;

const control = /^(?:textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|listbox)$/;

/** How to find a locator's elements in an accessibility snapshot, which does not contain test ids, titles or selectors. */
const shownBy: Readonly<Record<string, (shown: AriaLine, wanted: Matches) => boolean>> = {
  getByRole: ({ role }, wanted) => wanted(role),
  getByText: ({ name, text }, wanted) => wanted(name) || wanted(text),
  getByLabel: ({ role, name }, wanted) => control.test(role) && wanted(name),
  getByAltText: ({ role, name }, wanted) => role === 'img' && wanted(name),
  getByPlaceholder: ({ role, text }, wanted) => role === '/placeholder' && wanted(text),
};

/** Returns the lines of an accessibility snapshot that a locator matches; empty if a snapshot cannot tell. */
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
