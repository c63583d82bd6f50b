import { findMarkedLine } from './complaint.js';
import type { Evidence, NetworkEntry } from '../model/evidence.js';
import { getPath } from '../urls.js';

const shortestWord = 3;
const MAX_TEXT = 4_000;

/** Splits a text into lower-case words without plural endings: `getByTestId('card-bills')` has `by`, `test`, `card`, `bill` … */
export function splitWords(text: string): Set<string> {
  const parts = text
    .slice(0, MAX_TEXT)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\d]+/gu);
  return new Set(
    (parts ?? []).filter(({ length }) => length >= shortestWord).map((word) => word.replace(/s$/, '')),
  );
}

/** The failed requests that a failing test is about. */
export interface NamedRequests {
  /** The failed requests that the test names; all of them if it names none or every one. */
  readonly named: readonly NetworkEntry[];
  /** True if a text names only the other failed requests. */
  readonly isAboutOthers: (text: string) => boolean;
}

/**
 * Finds the failed requests that a test names, because two parts of a page can fail for two causes. The test names a request if its error, its
 * failing line or its step has a word that occurs only in this request's path.
 */
export function findNamedRequests(
  failed: readonly NetworkEntry[],
  { errors, failedStep }: Pick<Evidence, 'errors' | 'failedStep'>,
): NamedRequests {
  const paths = [...new Set(failed.map(({ url }) => getPath(url)))];
  const all = paths.map((path) => [path, splitWords(path)] as const);
  const ownWords = new Map(
    all.map(([path, words]) => {
      const others = all.filter(([other]) => other !== path);
      return [path, [...words].filter((word) => !others.some(([, theirs]) => theirs.has(word)))];
    }),
  );
  const testWords = splitWords(
    [failedStep, ...errors.flatMap((error) => [error.message, findMarkedLine(error)])]
      .filter(Boolean)
      .join('\n'),
  );
  const isNamed = (path: string, words: ReadonlySet<string>) =>
    (ownWords.get(path) ?? []).some((word) => words.has(word));
  const named = paths.filter((path) => isNamed(path, testWords));
  if (named.length === 0 || named.length === paths.length)
    return { named: failed, isAboutOthers: () => false };
  const others = paths.filter((path) => !named.includes(path));
  return {
    named: failed.filter(({ url }) => named.includes(getPath(url))),
    isAboutOthers: (text) => {
      const words = splitWords(text);
      return others.some((path) => isNamed(path, words)) && !named.some((path) => isNamed(path, words));
    },
  };
}

/** Splits a log into blocks: a line with the indented lines below it, or a Python traceback with the error that ends it. */
export function splitLogBlocks(text: string): string[] {
  const blocks: string[] = [];
  let isTraceback = false;
  for (const line of text.split('\n')) {
    const isPart = /^(?:\s|[}\])])/.test(line) || isTraceback;
    if (isPart && blocks.length > 0) blocks[blocks.length - 1] += `\n${line}`;
    else blocks.push(line);
    if (line.startsWith('Traceback (most recent call last)')) isTraceback = true;
    else if (isTraceback && /^\S/.test(line)) isTraceback = false;
  }
  return blocks;
}
