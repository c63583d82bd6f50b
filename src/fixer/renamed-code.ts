import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import type { Hunk } from '../core/blame.js';
import type { Proposal, ProposedFile, Sources, SourceText } from './proposal.js';
import { captured, placesOf, renamedIn } from './renamed.js';

/** The evidence about a name that the build does not find. */
export interface RenamedCodeEvidence {
  /** The output of the compiler, the bundler or Node. */
  readonly said: string;
  readonly sources: () => Promise<Sources>;
  readonly hunksAbout: (name: string) => Promise<readonly Hunk[]>;
  /** The folders to which printed paths may be relative. */
  readonly folders: readonly string[];
}

/** A missing export (`at` is null) or property; lines and columns count from 1. */
interface LostName {
  readonly name: string;
  readonly at: { readonly file: string; readonly line: number; readonly column: number } | null;
}

/** Messages of TypeScript, esbuild, Rollup (and Vite), webpack and Node. */
const lostExports = [
  /has no exported member(?: named)? '([\w$]+)'/g,
  /No matching export in "[^"\n]+" for import "([\w$]+)"/g,
  /"([\w$]+)" is not exported by "/g,
  /export '([\w$]+)' \(imported as '[^'\n]+'\) was not found in/g,
  /does not provide an export named '([\w$]+)'/g,
];
/** `src/cart.ts(20,3): error TS2339: Property 'cents' does not exist on …`, or with colors `src/cart.ts:20:3 - error …`. */
const lostProperty =
  /^[^\S\n]*([^\s()][^()\n:]*\.[cm]?tsx?)[(:](\d+)[,:](\d+)\)?(?::| -) error TS\d+: .*?'([\w$]+)' does not exist (?:on|in) type/gm;

/**
 * Proposes a fix for code that uses an export or property by its old name (BF-4). A change must show both names; all uses of the old one follow.
 * Returns `gone` if a change removed a name for good, since similar names mean something else then.
 */
export async function renamedCode(evidence: RenamedCodeEvidence): Promise<Proposal | 'gone' | null> {
  const renames = new Map<string, string>();
  const lost = lostNames(evidence.said);
  for (const name of new Set(lost.map((one) => one.name))) {
    const hunks = await evidence.hunksAbout(name);
    const change = renamedIn(
      hunks.filter(({ old }) => declares(old, name)),
      name,
    );
    if (change.kind === 'renamed' && /^[\w$]+$/.test(change.to)) renames.set(name, change.to);
    else if (change.kind === 'removed' && !hunks.some(({ now }) => declares(now, name))) return 'gone';
  }
  const { app, tests } = await evidence.sources();
  if (app === null || renames.size === 0) return null;
  const files = [...app, ...tests].flatMap((source) => followed(source, { ...evidence, lost, renames }));
  const told = [...renames].map(([name, to]) => `${name} is now ${to}`).join(', ');
  return files.length === 0
    ? null
    : { summary: `a change renamed names that other code still used: ${told}`, files };
}

function lostNames(said: string): LostName[] {
  const named = lostExports.flatMap((pattern) => captured(said, pattern));
  const properties = Array.from(said.matchAll(lostProperty), ([, file = '', line, column, name = '']) => ({
    name,
    at: { file, line: Number(line), column: Number(column) },
  }));
  return [...[...new Set(named)].map((name) => ({ name, at: null })), ...properties];
}

/** Whether lines declare this name: as a variable, a function, a type or a property. */
function declares(lines: readonly string[], name: string): boolean {
  const own = escapeStringRegexp(name);
  const made = new RegExp(
    String.raw`\b(?:const|let|var|function|class|interface|type|enum|get|set)\s+${own}(?![\w$])|(?:^|[\s,{(])${own}[?!]?\s*:`,
  );
  return lines.some((line) => made.test(line));
}

interface Following extends Pick<RenamedCodeEvidence, 'folders'> {
  readonly lost: readonly LostName[];
  readonly renames: ReadonlyMap<string, string>;
}

function followed({ file, text }: SourceText, { folders, lost, renames }: Following): ProposedFile[] {
  const edits = new Map<number, string>();
  for (const { name, at } of lost.filter((one) => renames.has(one.name)))
    if (at === null) for (const start of importedPlaces(text, name)) edits.set(start, name);
    else if (folders.some((one) => path.resolve(one, at.file) === file)) {
      const start = offsetOf(text, at);
      if (text.startsWith(name, start)) edits.set(start, name);
    }
  const after = [...edits]
    .toSorted(([a], [b]) => b - a)
    .reduce(
      (sum, [start, name]) => sum.slice(0, start) + renames.get(name) + sum.slice(start + name.length),
      text,
    );
  return after === text ? [] : [{ file, before: text, after }];
}

/** Returns all places of a name in a file that imports it, except properties of that name. */
function importedPlaces(text: string, name: string): number[] {
  const own = `(?<![\\w$])${escapeStringRegexp(name)}(?![\\w$])`;
  const imports = new RegExp(`\\b(?:import|export)\\b[^;'"{]*\\{[^}]*${own}[^}]*\\}\\s*from\\b`);
  return imports.test(text) ? placesOf(text, name).filter((at) => text[at - 1] !== '.') : [];
}

function offsetOf(text: string, { line, column }: { line: number; column: number }): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
}
