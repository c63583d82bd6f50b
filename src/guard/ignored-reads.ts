import type { Finding } from '../model/guard-findings.js';
import { isCode } from '../code/imports.js';
import { gitBytes } from '../workspace/git.js';
import type { GitChanges } from '../workspace/git-trees.js';
import { referencesAmong } from './test-code.js';

/** Finds what changed code reads that git ignores, and did not read before: no other machine has it, so that the fix is none there. */
export async function ignoredReads({ root, changes, before, after }: GitChanges): Promise<Finding[]> {
  const how = [
    '--others',
    '--ignored',
    '--exclude-standard',
    '-z',
    '--',
    ':(exclude,glob)**/node_modules/**',
  ];
  const listed = String(await gitBytes(root, ['ls-files', ...how])).split('\0');
  const refer = referencesAmong(new Set(listed.filter((file) => file !== '')));
  const paths = changes.map((change) => change.path).filter(isCode);
  const [old, now] = await Promise.all([before.read(paths), after.read(paths)]);
  const readBy = (file: string, bytes: Uint8Array | undefined) => {
    const { imports, names } = refer(file, Buffer.from(bytes ?? []).toString('utf8'));
    return new Set([...imports, ...names]);
  };
  return paths.flatMap((file) => {
    const known = readBy(file, old.get(file));
    const added = [...readBy(file, now.get(file))].filter((target) => !known.has(target));
    const says = (target: string) => `it reads ${target}, which git ignores: no other machine has that file`;
    return added.map((target) => ({ rule: 'ignored-file', file, line: null, says: says(target) }));
  });
}
