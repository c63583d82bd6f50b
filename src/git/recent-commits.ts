import { git } from './git.js';

/** A commit, as agents are told of it. */
export interface RecentCommit {
  readonly id: string;
  /** `2026-11-22` */
  readonly date: string;
  readonly author: string;
  readonly subject: string;
  /** What it changed, relative to the repository's root, at most ten. */
  readonly files: readonly string[];
}

const MOST = 5;

/** Returns the last commits in a folder: those of these files first, then the newest ones; none without a repository. */
export async function recentCommits(cwd: string, files: readonly string[]): Promise<RecentCommit[]> {
  const [own, all] = await Promise.all([
    files.length > 0
      ? logOf(
          cwd,
          files.map((file) => `:(literal)${file}`),
        )
      : [],
    logOf(cwd, ['.']),
  ]);
  const found = new Map([...own.slice(0, 3), ...all].map((one) => [one.id, one]));
  return [...found.values()].slice(0, MOST);
}

async function logOf(cwd: string, paths: readonly string[]): Promise<RecentCommit[]> {
  const format = '--format=%x01%h%x02%as%x02%an%x02%s';
  const text = await git(cwd, ['log', `-${MOST}`, '--no-merges', '--name-only', format, '--', ...paths]);
  return (text ?? '')
    .split('\u0001')
    .slice(1)
    .map((one) => {
      const [head = '', ...names] = one.split('\n').filter((line) => line !== '');
      const [id = '', date = '', author = '', subject = ''] = head.split('\u0002');
      return { id, date, author, subject, files: names.slice(0, 10) };
    });
}
