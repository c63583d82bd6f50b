import path from 'node:path';
import { execa } from 'execa';
import { type Git, withoutGit } from './git.js';

/** A repository may hold one that holds one: so deep they are looked for. */
const MAX_DEPTH = 4;

/**
 * Puts the files of repositories inside the recorded folder (submodules, clones that nobody ignores) into the private index, file by
 * file: git itself would record their commit alone, and see no edit in them. `empty` are those without a commit, as `git add` names them.
 */
export async function recordNested(git: Git, root: string, empty: readonly string[]): Promise<void> {
  let found = [...new Set([...(await gitlinks(git)), ...empty])];
  for (let depth = 0; found.length > 0 && depth < MAX_DEPTH; depth += 1) {
    for (const folder of found) await recordOne(git, root, folder);
    found = await gitlinks(git);
  }
}

/** Paths of the index that are repositories; as bytes, in Latin-1. */
async function gitlinks(git: Git): Promise<string[]> {
  const listed = Buffer.from(await git.bytes(['ls-files', '--stage', '-z'])).toString('latin1');
  return listed
    .split('\0')
    .flatMap((line) => (line.startsWith('160000 ') ? [line.slice(line.indexOf('\t') + 1)] : []));
}

async function recordOne(git: Git, root: string, folder: string): Promise<void> {
  const name = Buffer.from(folder, 'latin1');
  await git.bytes(['update-index', '--force-remove', '-z', '--stdin'], { input: name });
  const listed = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: path.join(root, name.toString()),
    env: { ...withoutGit(process.env), GIT_OPTIONAL_LOCKS: '0' },
    extendEnv: false,
    encoding: 'buffer',
    reject: false,
    stdin: 'ignore',
    stripFinalNewline: false,
  });
  if (listed.exitCode !== 0) return;
  const files = Buffer.from(listed.stdout).toString('latin1').split('\0');
  const inside = [...new Set(files)].filter((file) => file !== '').map((file) => `${folder}/${file}\0`);
  const input = Buffer.from(inside.join(''), 'latin1');
  await git.bytes(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input });
}
