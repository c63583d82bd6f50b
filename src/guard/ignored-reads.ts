import type { Finding } from '../model/guard-findings.js';
import { isCode } from '../code/imports.js';
import { gitBytes } from '../workspace/git.js';
import type { GitChanges } from '../workspace/git-trees.js';
import { createReferenceFinder } from './test-code.js';

/** Finds files ignored by git that the code reads only since the change. No other machine has them, so the fix would not work there. */
export async function findIgnoredReads({ root, changes, before, after }: GitChanges): Promise<Finding[]> {
  const options = [
    '--others',
    '--ignored',
    '--exclude-standard',
    '-z',
    '--',
    ':(exclude,glob)**/node_modules/**',
  ];
  const ignoredFiles = String(await gitBytes(root, ['ls-files', ...options])).split('\0');
  const findReferences = createReferenceFinder(new Set(ignoredFiles.filter((file) => file !== '')));
  const paths = changes.map((change) => change.path).filter(isCode);
  const [old, now] = await Promise.all([before.readFiles(paths), after.readFiles(paths)]);
  const listReads = (file: string, bytes: Uint8Array | undefined) => {
    const { imports, names } = findReferences(file, Buffer.from(bytes ?? []).toString('utf8'));
    return new Set([...imports, ...names]);
  };
  return paths.flatMap((file) => {
    const readBefore = listReads(file, old.get(file));
    const added = [...listReads(file, now.get(file))].filter((target) => !readBefore.has(target));
    const describeRead = (target: string) =>
      `it reads ${target}, which git ignores: no other machine has that file`;
    return added.map((target) => ({ rule: 'ignored-file', file, line: null, says: describeRead(target) }));
  });
}
