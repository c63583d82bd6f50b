import { isCode } from '../../code/imports.js';
import { parseSource } from '../../code/source-file.js';
import { listNodes } from '../../code/syntax.js';
import type { DocumentedRule, TouchedCode } from '../../agents/review-prompt.js';
import { compareFile, type ExactHunk } from '../../workspace/hunks.js';
import type { FixedFile } from '../attempt/reverted-hunks.js';

/** A text file of the project. */
export interface ProjectText {
  readonly path: string;
  readonly text: string;
  /** The text when the test was green; absent if unknown. */
  readonly green?: string | null;
}

/** A change is shown with the largest function or block around it of up to `MAX_BLOCK_LINES` lines, or with `LINES_AROUND` lines on each side. */
const LINES_AROUND = 10;
const MAX_BLOCK_LINES = 60;

interface Range {
  /** Line numbers, counted from 1, both inclusive. */
  readonly start: number;
  readonly end: number;
}

/** Returns the functions that a fix changes, or the lines around its changes, in three states. */
export function findTouchedCode(files: readonly FixedFile[]): TouchedCode[] {
  return files.flatMap(({ path, red, now, ...states }) => {
    const fullText = now ?? red;
    if (fullText === null) return [];
    const lines = fullText.split('\n');
    const fixed = compareFile(path, red, now).hunks;
    const sinceGreen = states.green === undefined ? [] : compareFile(path, states.green, now).hunks;
    const ranges =
      red === null || now === null
        ? [{ start: 1, end: lines.length }]
        : joinRanges(fixed.map((hunk) => findSurroundings({ path, text: now }, hunk)));
    return ranges.map((range) => ({
      at: `${path}:${range.start}-${range.end}`,
      ...(states.green === undefined ? {} : { green: readRange(states.green, range, sinceGreen) }),
      red: readRange(red, range, now === null ? [] : fixed),
      now: now === null ? null : selectLines(now, range),
    }));
  });
}

function readRange(text: string | null, range: Range, since: readonly ExactHunk[]): string | null {
  return text === null
    ? null
    : selectLines(text, {
        start: mapToOldLine(since, range.start),
        end: mapToOldLine(since, range.end, true),
      });
}

const selectLines = (text: string, { start, end }: Range) =>
  text
    .split('\n')
    .slice(start - 1, end)
    .join('\n');

/** Maps a line of the new state to its line in the old state. */
function mapToOldLine(hunks: readonly ExactHunk[], line: number, isEnd = false): number {
  let shift = 0;
  for (const { oldStart, newStart, old, now } of hunks) {
    if (line < newStart) break;
    if (line < newStart + now.length) return isEnd ? oldStart + old.length - 1 : oldStart;
    shift = oldStart + old.length - newStart - now.length;
  }
  return line + shift;
}

/** Returns the lines of the largest function or block around a change that is not too long, with the comment before it. */
function findSurroundings({ path, text }: { path: string; text: string }, hunk: ExactHunk): Range {
  const [start, end] = [hunk.newStart, Math.max(hunk.newStart, hunk.newStart + hunk.now.length - 1)];
  const lines = text.split('\n');
  const around = {
    start: Math.max(1, start - LINES_AROUND),
    end: Math.min(lines.length, end + LINES_AROUND),
  };
  const source = isCode(path) ? parseSource(path, text) : null;
  if (!source) return around;
  const ranges = listNodes(source.program).flatMap((node) => {
    const range = { start: source.lineAt(node.start), end: source.lineAt(node.end) };
    const containsChange = node.type !== 'Program' && range.start <= start && range.end >= end;
    return containsChange && range.end - range.start < MAX_BLOCK_LINES ? [range] : [];
  });
  const [largest] = ranges.toSorted((a, b) => b.end - b.start - (a.end - a.start));
  if (!largest) return around;
  let first = largest.start;
  while (first > 1 && comment.test(lines[first - 2] ?? '')) first -= 1;
  return { start: first, end: largest.end };
}

function joinRanges(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && range.start <= last.end + 1)
      all[all.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else all.push(range);
  }
  return all;
}

const comment = /^\s*(?:\/\/|\/\*|\*|#(?!!)|--|<!--|\{\/\*)/;

/** True for a document, whose lines are prose, not only its comments. */
export const isDocument = (path: string) => /\.(?:md|mdx|txt|rst|adoc)$/i.test(path);

/** Words of programming languages, which say nothing about an app. */
const languageWords = new Set(
  `const let var function return async await import export from default class extends new this null undefined true false typeof instanceof
  string number boolean void any unknown readonly public private static interface type enum for while break continue switch case throw try catch
  finally else test expect page the and not with that when value values data item items result error get set key name text list map filter length
  push slice join split trim json res req response request status send body params query async html div span class href role label input button
  form self def end nil none`.split(/\s+/),
);

const MAX_RULES = 14;

/** A word in at most this many lines is significant by itself. */
const RARE = 3;

/**
 * Returns the lines of documents and comments that share words with a fix and the change before it. Words of changed lines weigh more than words around
 * them, and rare words more than frequent ones.
 */
export function findRules(files: readonly FixedFile[], texts: readonly ProjectText[]): DocumentedRule[] {
  const changed = files.flatMap(({ path, green, red, now }) =>
    [compareFile(path, red, now), ...(green === undefined ? [] : [compareFile(path, green, red)])].flatMap(
      ({ hunks }) => hunks.flatMap((hunk) => [...hunk.old, ...hunk.now]),
    ),
  );
  const around = findTouchedCode(files).flatMap(({ at: index, now, red }) => [index, now ?? red ?? '']);
  const names = new Map<string, number>(around.flatMap(splitWords).map((word) => [word, 0.5]));
  for (const word of changed.flatMap(splitWords)) names.set(word, 1);
  const reds = new Map(files.map(({ path, red }) => [path, red ?? '']));
  const lines = texts.flatMap(({ path, text: now, ...states }) => {
    // Comments that the fix itself adds are not rules of the project.
    const text = reds.get(path) ?? now;
    const before =
      states.green === undefined ? null : new Set((states.green ?? '').split('\n').map(trimLine));
    return text.split('\n').flatMap((line, index) =>
      isDocument(path) || comment.test(line)
        ? [
            {
              file: path,
              line: index + 1,
              text: line.slice(0, 300),
              words: [...new Set(splitWords(line))].filter((word) => names.has(word)),
              hasChanged: before && !before.has(trimLine(line)),
            },
          ]
        : [],
    );
  });
  const counts = new Map<string, number>();
  for (const { words } of lines) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const countLines = (word: string) => counts.get(word) ?? 1;
  const weighWord = (word: string) => (names.get(word) ?? 0) * Math.log(1 + lines.length / countLines(word));
  const scored = lines
    .map((line, index) => ({
      ...line,
      at: index,
      score: line.words.reduce((sum, word) => sum + weighWord(word), 0),
    }))
    .filter(
      ({ words }) =>
        words.length > 1 || words.some((word) => countLines(word) <= RARE && names.get(word) === 1),
    )
    .toSorted((a, b) => b.score - a.score);
  const best = scored[0]?.score ?? 0;
  return scored
    .filter(({ score }) => score >= best / 3)
    .slice(0, MAX_RULES)
    .toSorted((a, b) => a.at - b.at)
    .map(({ file, line, text, hasChanged }) => ({ file, line, text, hasChanged }));
}

const trimLine = (line: string) => line.trim();

/** Splits a line into words, also within `camelCase` and `snake_case`, without plural endings. */
function splitWords(line: string): string[] {
  const words = line.match(/\p{Lu}?\p{Ll}{2,}|\p{Lu}{2,}|\d{2,}/gu) ?? [];
  return words
    .map((word) => word.toLowerCase().replace(/(?<=\p{L}{3})(?:es|s)$/u, ''))
    .filter((word) => (word.length > 2 || /\d/.test(word)) && !languageWords.has(word));
}

/** The length in characters up to which a test file is shown whole. */
const LONGEST_SPEC = 3_000;

/** Returns the source of a test, or of its whole file if that is short. */
export function readTestSource(path: string, text: string, line: number): string {
  if (text.length <= LONGEST_SPEC) return text;
  const lines = text.split('\n');
  const source = parseSource(path, text);
  const [test] = listNodes(source?.program ?? null)
    .filter(({ type, start }) => type === 'CallExpression' && source?.lineAt(start) === line)
    .toSorted((a, b) => b.end - b.start - (a.end - a.start));
  const end = test && source ? source.lineAt(test.end) : line + 40;
  return lines.slice(line - 1, end).join('\n');
}

const complaint = /^passes although .* still says: (.+)$/s;

/** If an error still occurs although the test is green, adds whether the test names it, as a test of that error would. */
export function noteIfTestNamesError(fact: string, spec: string | null): string {
  const words = complaint.exec(fact)?.[1]?.match(/\p{L}{4,}|\b[45]\d\d\b/gu);
  if (!words || spec === null) return fact;
  const named = words.filter((word) => spec.includes(word));
  return `${fact} (the test ${named.length * 2 > words.length ? 'names it' : 'does not name it'})`;
}
