import { baseOf } from '../guard/git-trees.js';
import { git } from '../git.js';
import { parseHunks, type Hunk } from './hunk.js';
import { holds, renamedIn, type Renaming } from './renamed.js';

/** What changed in a project's repository, as far as a question needs it. */
export interface AppChanges {
  /** The changes since the base; and where those say nothing of the name, those of the last commit that took it out. */
  hunksAbout(name: string): Promise<readonly Hunk[]>;
  /** What these made of a name, as far as `isApp` takes a file for one of the app. */
  renaming(name: string, isApp: (file: string) => boolean): Promise<Renaming>;
}

/** Longer than this nobody searches a history, in milliseconds. */
const SEARCH_MS = 5000;
/** A search for a name looks at so many commits of the history, the newest. */
const COMMITS = 1000;

const patch = ['--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--find-renames'];

/** The changes of the repository around a folder; without one nothing is known of any name. */
export function openAppChanges(root: string): AppChanges {
  let sinceBase: Promise<readonly Hunk[]> | null = null;
  const searched = new Map<string, Promise<readonly Hunk[]>>();
  const hunksAbout = async (name: string) => {
    const known = await (sinceBase ??= hunksSinceBase(root));
    const about = known.filter(({ before, after }) =>
      [...before, ...after].some((line) => holds(line, name)),
    );
    if (about.some(({ before }) => before.some((line) => holds(line, name)))) return about;
    const search = searched.get(name) ?? lastChangeOf(root, name);
    searched.set(name, search);
    return [...about, ...(await search)];
  };
  return {
    hunksAbout,
    renaming: async (name, isApp) =>
      renamedIn(
        (await hunksAbout(name)).filter(({ file }) => isApp(file)),
        name,
      ),
  };
}

/** What is not committed, and what the branch has that the default branch has not. */
async function hunksSinceBase(root: string): Promise<readonly Hunk[]> {
  const base = await baseOf(root, null);
  const from = typeof base === 'string' ? base : 'HEAD';
  return parseHunks((await git(root, ['diff', ...patch, from, '--'])) ?? '');
}

/** What the newest commit changed that took places of a name out; the one that brought it in, say, tells nothing of what it became. */
async function lastChangeOf(root: string, name: string): Promise<readonly Hunk[]> {
  const args = ['log', '--max-count=3', `-S${name}`, '--format=%x01', '--patch', ...patch, '--no-merges'];
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), SEARCH_MS).unref());
  const oldest = (await git(root, ['rev-list', `--skip=${COMMITS}`, '--max-count=1', 'HEAD']))?.trim();
  const range = oldest ? `${oldest}..HEAD` : 'HEAD';
  const found = await Promise.race([git(root, [...args, range, '--']), late]);
  const commits = (found ?? '').split('\u0001').map(parseHunks);
  return commits.find((hunks) => hunks.some((hunk) => hunk.before.some((line) => holds(line, name)))) ?? [];
}
