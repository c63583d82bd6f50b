/** Lines of one file that a change took out, and those that it put in their place. */
export interface Hunk {
  /** Relative to the repository, with `/`. */
  readonly file: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Longer lines are generated, and compared with nothing. */
const MAX_LINE = 1000;

/** Reads the text of `git diff --unified=0`, or of `git log --patch`. */
export function parseHunks(diff: string): Hunk[] {
  const hunks: { file: string; before: string[]; after: string[] }[] = [];
  let file = '';
  let inHunk = false;
  for (const line of diff.split('\n')) {
    if (line.startsWith('diff --git ')) {
      inHunk = false;
      file = '';
    } else if (!inHunk && /^(?:---|\+\+\+) [ab]\//.test(line)) file = line.slice(6).replace(/\t$/, '');
    else if (line.startsWith('@@ ')) {
      inHunk = true;
      hunks.push({ file, before: [], after: [] });
    } else if (inHunk && line.length <= MAX_LINE) {
      if (line.startsWith('-')) hunks.at(-1)?.before.push(line.slice(1));
      else if (line.startsWith('+')) hunks.at(-1)?.after.push(line.slice(1));
    }
  }
  return hunks;
}
