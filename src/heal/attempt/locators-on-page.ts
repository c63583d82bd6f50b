import type { Note } from '../../core/guard-findings.js';
import { type AriaLine, ariaLineOf } from '../../fixer/locator-names.js';
import {
  calleeOf,
  constantOf,
  nameOf,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
} from '../../code/syntax.js';
import { parseSource } from '../../code/source-file.js';
import { partOf } from '../../code/sources.js';
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

/** An element of an accessibility snapshot. */
interface Shown {
  readonly line: string;
  readonly aria: AriaLine;
  readonly parent: Shown | null;
  readonly children: Shown[];
}

/** Returns the elements of a snapshot, in order. */
function elementsOf(snapshot: string): Shown[] {
  const open: { depth: number; element: Shown }[] = [];
  return snapshot.split('\n').flatMap((line) => {
    const aria = ariaLineOf(line);
    if (!aria) return [];
    const depth = line.search(/\S/);
    while ((open.at(-1)?.depth ?? -1) >= depth) open.pop();
    const parent = open.at(-1)?.element ?? null;
    const element = { line, aria, parent, children: [] };
    parent?.children.push(element);
    open.push({ depth, element });
    return [element];
  });
}

function isIn(element: Shown, outer: readonly Shown[]): boolean {
  const { parent } = element;
  return parent !== null && (outer.includes(parent) || isIn(parent, outer));
}

function textIn({ aria, children }: Shown): string {
  return [aria.name, aria.text, ...children.map(textIn)].join(' ');
}

/** Returns the lines of an accessibility snapshot that a locator matches; empty if a snapshot cannot tell. */
function findInSnapshot(code: string, snapshot: string): string[] {
  const found = findElements(code, elementsOf(snapshot)) ?? [];
  return found.map(({ line }) => line.trim().replace(/^- /, '').replace(/:$/, ''));
}

/** Returns the elements that a locator matches; null if a snapshot cannot tell. */
function findElements(code: string, all: readonly Shown[]): readonly Shown[] | null {
  const [statement] = nodesIn(parseSource('locator.js', code)?.program, 'body');
  return found(nodeIn(statement, 'expression'), all);
}

function found(call: SyntaxNode | null, all: readonly Shown[]): readonly Shown[] | null {
  const callee = calleeOf(call);
  const method = propertyOf(callee) ?? nameOf(callee) ?? '';
  const object = propertyOf(callee) ? nodeIn(callee, 'object') : null;
  const outer = object && found(object, all);
  const [first, options] = nodesIn(call, 'arguments');
  if (object && outer === null) return null;
  if (method === 'first') return outer?.slice(0, 1) ?? null;
  if (method === 'last') return outer?.slice(-1) ?? null;
  if (method === 'filter') {
    if (!hasOnly(first, /^hasText$/)) return null;
    const wanted = matcherOf(first && partOf(first, 'hasText'), false);
    return outer?.filter((one) => wanted(textIn(one))) ?? null;
  }
  const isShown = shownBy[method];
  if (!isShown || !hasOnly(options, /^(?:name|exact)$/)) return null;
  const given = (key: string) => options && partOf(options, key);
  const isExact = given('exact')?.['value'] === true;
  const wanted = matcherOf(first, isExact || method === 'getByRole');
  const named = given('name') ? matcherOf(given('name'), isExact) : () => true;
  return all.filter(
    (one) => (!outer || isIn(one, outer)) && isShown(one.aria, wanted) && named(one.aria.name),
  );
}

function hasOnly(options: SyntaxNode | null | undefined, keys: RegExp): boolean {
  return nodesIn(options, 'properties').every((one) => keys.test(nameOf(nodeIn(one, 'key')) ?? ''));
}

/** A step that looks at how many elements there are. */
const counting =
  /\.(?:toHaveCount|count|all|allTextContents|allInnerTexts|evaluateAll)\(|\.to(?:Have|Contain)(?:Text|Class)\(\[/;

/** Ways in which a locator picks some of many elements. Those of a selector are not known. */
const picking: readonly RegExp[] = [
  /\bgetBy(?:Text|Label|AltText|Title|Placeholder|TestId)\(|\bname: |\bhasText: /,
  /\.(?:filter|and)\(/,
  /\.(?:first|last|nth)\(/,
  /\blocator\(/,
];
const bySelector = picking.at(-1);

/**
 * Returns the replaced locators of counts and lists of which no page shows that they find as many elements as the app shows: those that the old
 * one meant. One that picks elements in no other way than the old one does is taken to mean them.
 */
export function notAsMany(
  changes: readonly LocatorChange[],
  snapshots: readonly string[],
): readonly LocatorChange[] {
  return changes.filter(({ old, now, step }) => {
    if (!counting.test(step)) return false;
    const isNew = (one: RegExp) => one.test(now) && (one === bySelector || !one.test(old));
    return picking.some(isNew) && !snapshots.some((one) => findsAll(now, elementsOf(one)));
  });
}

/** Whether a locator finds some elements, and every other one of their kind beside them. */
function findsAll(code: string, all: readonly Shown[]): boolean {
  const some = findElements(code, all) ?? [];
  const isBeside = (one: Shown) =>
    some.some((other) => other.parent === one.parent && other.aria.role === one.aria.role);
  return some.length > 0 && all.filter(isBeside).length === some.length;
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
