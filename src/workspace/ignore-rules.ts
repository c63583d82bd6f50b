import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Git } from './git.js';

/** The ignore files of the recorded folder: their lines, by path. */
export type IgnoreRules = ReadonlyMap<string, ReadonlySet<string>>;

/** Folders that no checkpoint holds, whatever the rules say. */
const never = ['node_modules/', '.self-heal/', 'test-results/', 'playwright-report/', 'blob-report/'];
const skipped = never.map((folder) => `--exclude=${folder}`);

/** Reads the rules that are in force, also those of ignore files that ignore themselves. */
export async function readIgnoreRules(git: Git, root: string): Promise<IgnoreRules> {
  const listed = await git.run([
    'ls-files',
    '--cached',
    '--others',
    '-z',
    ...skipped,
    '--',
    '.gitignore',
    '**/.gitignore',
  ]);
  const files = [...new Set(split(listed))];
  const texts = await Promise.all(
    files.map((file) => readFile(path.join(root, file), 'utf8').catch(() => '')),
  );
  return new Map(files.map((file, index) => [file, linesOf(texts[index] ?? '')]));
}

/**
 * Files that git ignores by a rule that was not there before, or for want of an exception that was: an agent that adds its own files to
 * `.gitignore` hides nothing.
 */
export async function hiddenByNewRules(git: Git, root: string, before: IgnoreRules): Promise<string[]> {
  const now = await readIgnoreRules(git, root);
  const isNew = (source: string, line: string) => before.get(source)?.has(line) !== true;
  const grown = [...now].some(([file, lines]) => [...lines].some((line) => isNew(file, line)));
  const hidden = grown ? await ignoredBy(git, isNew) : [];
  const lost = [...before].flatMap(([file, lines]) =>
    [...lines].flatMap((line) =>
      line.startsWith('!') && now.get(file)?.has(line) !== true ? [line.slice(1)] : [],
    ),
  );
  if (lost.length > 0) {
    const patterns = lost.map((pattern) => `--exclude=${pattern}`);
    hidden.push(...split(await git.run(['ls-files', '--others', '--ignored', '-z', ...patterns])));
  }
  return [...new Set(hidden)].filter((file) => !never.some((folder) => `/${file}`.includes(`/${folder}`)));
}

/** Files that such rules ignore. */
async function ignoredBy(git: Git, isSuch: (source: string, line: string) => boolean): Promise<string[]> {
  const ignored = split(await git.run(['ls-files', '--others', '--ignored', '--exclude-standard', '-z']));
  const asked = ignored.filter((file) => !never.some((folder) => `/${file}`.includes(`/${folder}`)));
  if (asked.length === 0) return [];
  const input = asked.map((file) => `${file}\0`).join('');
  // It fails where nothing is ignored; else it says `source NUL line NUL pattern NUL path NUL`, for each.
  const told = await git.run(['check-ignore', '--verbose', '-z', '--stdin'], { input }).catch(() => '');
  const fields = told.split('\0');
  const found: string[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = '', , pattern = '', file = ''] = fields.slice(at, at + 4);
    if (/(?:^|\/)\.gitignore$/.test(source) && isSuch(source, pattern)) found.push(file);
  }
  return found;
}

function split(text: string): string[] {
  return text.split('\0').filter((file) => file !== '');
}

function linesOf(text: string): ReadonlySet<string> {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')));
}
