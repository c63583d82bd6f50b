import { specName } from '../guard/test-paths.js';
import { git, gitList } from '../workspace/git.js';

/** A line of the project's code; `file` is relative to the searched folder. */
export interface CodeLine {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

const MAX_LINES = 2_000;
const MAX_LINE_LENGTH = 1_000;

/**
 * Returns the lines of the app's code and configuration that match a pattern. `flags` say how `git grep` reads the pattern: by default, as an
 * extended regular expression.
 */
export async function searchCode(
  tree: string,
  pattern: string,
  { flags = ['-E'], path = '.' }: { readonly flags?: readonly string[]; readonly path?: string } = {},
): Promise<CodeLine[]> {
  const args = ['grep', '-n', '-z', '-I', '--untracked', ...flags, '-e', pattern, '--', path];
  const output = await git(tree, args);
  return (output ?? '')
    .split('\n')
    .slice(0, MAX_LINES)
    .flatMap((entry) => {
      const [file = '', line = '', text = ''] = entry.split('\0');
      return isAppFile(file) && Number(line) > 0
        ? [{ file, line: Number(line), text: text.slice(0, MAX_LINE_LENGTH) }]
        : [];
    });
}

/** Returns the project's files according to git. */
export async function listAppFiles(tree: string): Promise<string[]> {
  const files = await gitList(tree, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  return files.filter(isAppFile);
}

/** True if a file is part of the app: not a test, documentation, a package manager's data, or self-heal's own. */
export function isAppFile(file: string): boolean {
  return (
    file !== '' &&
    !specName.test(file) &&
    !/(?:^|\/)(?:e2e|tests?|specs?|__\w+__|\.github|node_modules)\/|\.(?:md|lock|map|snap|log)$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|agents\.yaml)$/.test(
      file,
    )
  );
}
