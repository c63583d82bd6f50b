import escapeStringRegexp from 'escape-string-regexp';
import type { Proposal, SourceText } from './proposal.js';
import { type Place, placesOfName, placesOfRole, replaced } from './literals.js';
import { type LocatorName, namesIn } from './locator-links.js';
import { ariaNodes, isFoundBy, type RedPage, valuesOnPage } from './page-names.js';
import type { Hunk } from '../core/blame.js';
import type { Renaming } from './renamed.js';
import { nearest } from './similar.js';

/** The evidence about a locator that found nothing. */
export interface DriftEvidence {
  /** As Playwright prints it. */
  readonly locator: string;
  /** Whether the failing step asserts something about the element, so that the texts in its locator are expectations. */
  readonly isExpectation: boolean;
  /** Whether Playwright found an element that was in the wrong state. */
  readonly foundSome: boolean;
  readonly page: RedPage;
  /** Code of the tests: specs, page objects, fixtures. */
  readonly tests: readonly SourceText[];
  /** Positions of the failing step, innermost first. */
  readonly frames: readonly { readonly file: string; readonly line: number }[];
  /** Returns what the app's changes turned a name into. */
  readonly renaming: (name: string) => Promise<Renaming>;
  /** Returns the app's changes that are to blame or mention a name. */
  readonly changesAbout: (name: string) => Promise<readonly Hunk[]>;
  /** Whether the app's current code contains a name. */
  readonly isInApp: (name: string) => Promise<boolean>;
}

/** What a name, or the role with it, changed to, and the evidence for it. */
interface Drift {
  readonly what: 'name' | 'role';
  readonly to: string;
  readonly why: string;
  /** Whether the app no longer uses the old name, so that it may be replaced everywhere in the tests. */
  readonly everywhere: boolean;
}

/**
 * Proposes a fix for a locator that finds nothing since the app renamed its element: the tests follow (BF-2). Only two cases are certain: a
 * change of the app shows a new name that is on the page; or no change is known, and exactly one name on the page that no test uses is similar
 * to the old one, by a clear margin.
 */
export async function driftedLocator(evidence: DriftEvidence): Promise<Proposal | null> {
  const { page } = evidence;
  const names = namesIn(evidence.locator) ?? [];
  const missing = names.find((one) => !valuesOnPage(page, one).some((value) => isFoundBy(one, value)));
  const name = missing ?? (await renamedWithin(names, evidence));
  if (!name || (evidence.isExpectation && isVisibleText(name))) return null;
  const drift = (await roleOf(name, evidence)) ?? (await driftOf(name, evidence));
  return drift && follow(name, drift, evidence);
}

/** Handles a locator that finds nothing although all its names are on the page: returns the one that a change replaced by another on the page. */
async function renamedWithin(
  names: readonly LocatorName[],
  { page, renaming, foundSome }: DriftEvidence,
): Promise<LocatorName | null> {
  if (foundSome) return null;
  for (const name of names.toReversed()) {
    const change = await renaming(name.value);
    if (change.kind === 'renamed' && valuesOnPage(page, name).includes(change.to)) return name;
  }
  return null;
}

/** Whether visitors see or hear the name, so that an assertion that uses it expects it. */
function isVisibleText({ kind }: LocatorName): boolean {
  return !['test-id', 'id', 'class', 'attribute'].includes(kind);
}

/** Returns the new role if exactly one element on the page has the name and a change of the app swapped the roles. */
async function roleOf(name: LocatorName, { page, changesAbout }: DriftEvidence): Promise<Drift | null> {
  if (name.kind !== 'role') return null;
  const [only, ...more] = ariaNodes(page.ariaSnapshot).filter((node) => isFoundBy(name, node.name));
  if (!only || more.length > 0) return null;
  const swap = (await changesAbout(name.value)).find((hunk) => swapsRole(hunk, name.role, only.role));
  return swap ? { what: 'role', to: only.role, why: `as in ${swap.file}`, everywhere: false } : null;
}

async function driftOf(name: LocatorName, evidence: DriftEvidence): Promise<Drift | null> {
  const { page, tests, renaming, isInApp } = evidence;
  const change = await renaming(name.value);
  const values = valuesOnPage(page, name);
  if (change.kind === 'renamed' || change.kind === 'renamed-in-part') {
    const found = values.filter((value) => value === change.to);
    if (found.length === 0 || (isVisibleText(name) && found.length > 1)) return null;
    const everywhere = !isVisibleText(name) && !(await isInApp(name.value));
    return { what: 'name', to: change.to, why: `as renamed in ${change.file}`, everywhere };
  }
  // The name was removed, or changed in several ways, so its successor is unknown.
  if (change.kind !== 'unknown' || (!isVisibleText(name) && (await isInApp(name.value)))) return null;
  const isUsed = (value: string) => tests.some(({ text }) => text.includes(value));
  const unused = values.filter((value) => !isUsed(value));
  const to = nearest(name.value, unused);
  if (to === null || unused.filter((value) => value === to).length > 1) return null;
  const why = 'the most similar name on the page that no test uses';
  return { what: 'name', to, why, everywhere: false };
}

function follow(name: LocatorName, drift: Drift, evidence: DriftEvidence): Proposal | null {
  const { what, to, why } = drift;
  const places = placesToChange(name, drift, evidence);
  const files = new Set(places.map(({ file }) => file));
  const changed = evidence.tests.flatMap(({ file, text }) => {
    const own = places.filter((one) => one.file === file);
    const after = own.length > 0 ? replaced(text, own, to) : null;
    return after === null ? [] : [{ file, before: text, after }];
  });
  if (changed.length === 0 || changed.length < files.size) return null;
  const is = what === 'role' ? `a ${to}` : `"${to}"`;
  return { summary: `the locator by ${name.kind} "${name.value}" is now ${is}, ${why}`, files: changed };
}

/** Returns all places if the old name is no longer used; otherwise the one in the failing step, or the only one. */
function placesToChange(
  name: LocatorName,
  { what, everywhere }: Drift,
  { tests, frames }: DriftEvidence,
): Place[] {
  const placesOf = (one: SourceText) =>
    what === 'role' && name.kind === 'role' ? placesOfRole(one, name) : placesOfName(one, name);
  const places = tests.flatMap(placesOf);
  const calls = places.filter(({ inCall }) => inCall);
  if (everywhere && calls.length > 0) return calls;
  const isAt = (place: Place) =>
    frames.some(({ file, line }) => file === place.file && line >= place.from && line <= place.to);
  const failing = calls.filter(isAt);
  if (failing.length === 1) return failing;
  const candidates = calls.length > 0 ? calls : places;
  return candidates.length === 1 ? candidates : [];
}

/** HTML elements with an implicit role whose name differs from the role (https://www.w3.org/TR/html-aria/). */
const tags: Readonly<Record<string, string>> = {
  link: 'a',
  heading: 'h[1-6]',
  textbox: 'input|textarea',
  searchbox: 'input',
  spinbutton: 'input',
  checkbox: 'input',
  radio: 'input',
  switch: 'input',
  slider: 'input',
  combobox: 'select|input',
  listbox: 'select',
  img: 'img|svg',
  list: 'ul|ol',
  listitem: 'li',
  row: 'tr',
  cell: 'td',
  columnheader: 'th',
  navigation: 'nav',
};

/** Whether a change replaced markup of one role with as much markup of the other. */
function swapsRole({ old, now }: Hunk, from: string, to: string): boolean {
  const gone = countOf(from, old) - countOf(from, now);
  const came = countOf(to, now) - countOf(to, old);
  return gone > 0 && gone === came;
}

/** Counts how often lines create an element of a role: by a tag, by a component or call named like it, or by the attribute. */
function countOf(role: string, lines: readonly string[]): number {
  const named = [escapeStringRegexp(role), ...(tags[role] ? [tags[role]] : [])].join('|');
  const made = new RegExp(`<(?:${named})(?![\\w-])|\\((["'\`])(?:${named})\\1`, 'gi');
  const given = new RegExp(`\\brole["']?\\s*[=:]\\s*[{"'\`]+${escapeStringRegexp(role)}["'\`]`, 'g');
  const text = lines.join('\n');
  return (text.match(made)?.length ?? 0) + (text.match(given)?.length ?? 0);
}
