import type { FileChange } from '../core/attempt.js';

/** Reads `git diff-tree -z --numstat`: `added TAB removed TAB path NUL`, with `-` for binary files. */
export function parseNumstat(text: string): FileChange[] {
  return records(text).map((record) => {
    const [added = '', removed = '', ...file] = record.split('\t');
    return { path: file.join('\t'), added: count(added), removed: count(removed) };
  });
}

function records(text: string): string[] {
  return text.split('\0').filter((record) => record !== '');
}

function count(text: string): number | null {
  return text === '-' ? null : Number(text);
}
