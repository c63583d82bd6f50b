import { codeOf, compareTrees, type Difference, operationsIn, stretchesOf } from '../code/compare-trees.js';
import { isCode } from '../code/imports.js';
import { parseSource, type SourceFile } from '../code/source-file.js';
import type { Note } from '../core/guard-findings.js';
import type { Change } from './change.js';
import type { FileEdit } from './request.js';

/** Longer files, in characters, are hardly written by hand, and are not compared. */
const MAX_TEXT = 200_000;
/** How many places are named individually for the reviewer. */
const MAX_NOTES = 12;

/** What a file did: what its programs do, or the words of any other text. */
const operationsOf = (file: string, text: string): string[] => [
  ...programsIn(file, text).flatMap(({ program }) => operationsIn(program)),
  ...(isCode(file) ? [] : wordsIn(withoutScripts(text))),
];
const wordsIn = (text: string) => text.match(/[a-z_$][\w$]*/gi) ?? [];

/**
 * Names for the reviewer what the app did and does no longer: a call, a condition, a setting that was removed, or replaced by something that
 * does only a part of it. What occurs as often as before in the changed files has only moved.
 */
export function nameLosses({ ofApp }: Change): Note[] {
  const edits = ofApp.filter(
    ({ before, after }) => before?.text && after?.text && before.text.length < MAX_TEXT,
  );
  const counts = new Map<string, number>();
  for (const { path: file, before, after } of edits) {
    for (const one of operationsOf(file, after?.text ?? '')) counts.set(one, (counts.get(one) ?? 0) + 1);
    for (const one of operationsOf(file, before?.text ?? '')) counts.set(one, (counts.get(one) ?? 0) - 1);
  }
  const isLess = (operation: string) => (counts.get(operation) ?? 0) < 0;
  const notes = edits.flatMap((edit) => [
    ...lossesIn(edit, isLess),
    ...(isCode(edit.path) ? [] : lostLines(edit, isLess)),
  ]);
  const [next, ...others] = notes.splice(MAX_NOTES);
  const says = `${others.length + 1} more parts of the app do less than before`;
  return next ? [...notes, { file: next.file, line: null, says }] : notes;
}

const shown = (code: string) => `\`${code.length > 80 ? `${code.slice(0, 80)}…` : code}\``;

function lossesIn({ path: file, before, after }: FileEdit, isLess: (operation: string) => boolean): Note[] {
  const news = programsIn(file, after?.text ?? '');
  return programsIn(file, before?.text ?? '').flatMap((old, index) => {
    const now = news[index];
    const differences = now ? compareTrees(old, now).filter((one) => isLoss(one, isLess)) : [];
    return differences.flatMap((one) => {
      if (!one.old || !now) return [];
      const by = one.now ? `was replaced by ${shown(codeOf(one.now, now))}` : 'was removed';
      const line = one.now ? now.lineAt(one.now.start) : old.lineAt(one.old.start);
      return [{ file, line, says: `${shown(codeOf(one.old, old))} ${by}` }];
    });
  });
}

/** Whether a difference takes something away: what was added in its place does nothing that the old code did not do. */
function isLoss({ old, now }: Difference, isLess: (operation: string) => boolean): boolean {
  const all = old ? operationsIn(old) : [];
  return (
    all.some(isLess) && (!now || operationsIn(now).every((one) => all.includes(one) || one.startsWith('is ')))
  );
}

function lostLines({ path: file, before, after }: FileEdit, isLess: (word: string) => boolean): Note[] {
  const [olds = [], news = []] = [before, after].map((one) =>
    withoutScripts(one?.text ?? '')
      .split('\n')
      .map((line) => line.trim()),
  );
  return stretchesOf(olds, news, (a, b) => a === b)
    .filter((one) => !one.isKept && one.after.join('') === '')
    .flatMap((one) => one.before.filter((line) => wordsIn(line).some(isLess)))
    .map((line) => ({ file, line: null, says: `${shown(line)} was removed` }));
}

const script = /(<script\b[^>]*>)([\s\S]*?)<\/script>/g;
const blanked = (part: string) => part.replaceAll(/[^\n]/g, ' ');

/**
 * Parses the programs of a file: the file itself, or the scripts of a page or component, with their line numbers kept. What does not parse
 * is left out.
 */
function programsIn(path: string, text: string): SourceFile[] {
  const key = `${path}\n${text}`;
  const found = known.get(key) ?? parsed(path, text);
  known.set(key, found);
  return found;
}

/** Several checks ask for the same file in turn. */
const known = new Map<string, SourceFile[]>();

function parsed(path: string, text: string): SourceFile[] {
  if (isCode(path)) return [parseSource(path, text) ?? []].flat();
  return [...text.matchAll(script)].flatMap(({ index, 1: tag = '', 2: inside = '' }) => {
    const source = parseSource(`${path}.ts`, blanked(text.slice(0, index + tag.length)) + inside);
    return source ? { ...source, path } : [];
  });
}

/** Blanks out the scripts of a page or component, and keeps the line numbers of the rest. */
function withoutScripts(text: string): string {
  return text.replaceAll(script, blanked);
}
