import path from 'node:path';
import { writeState } from '../state-folder.js';
import { readRunPatch } from '../run/read-patch.js';
import { knownSecrets } from '../secrets/redactor.js';

/** The file in a run's folder with everything that the run changed, for `git apply` and `self-heal publish`. */
export const fixFile = 'fix.patch';

/**
 * Writes `fix.patch` if a run left anything changed, unless it holds a secret of this machine: masked, it would apply with the mask in it. What only
 * looks like a secret stays as it is. Returns what holds it: `src/auth.ts (value of SESSION_SECRET)`. Rejects if the file cannot be written.
 */
export async function writeFix(
  dir: string,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<readonly string[]> {
  const patch = await readRunPatch(dir);
  if (!patch || patch.length === 0) throw new Error('what the run changed can no longer be read');
  const secretsIn = await knownSecrets({ env, projectRoot: cwd });
  const withheld = withSecrets(patch.toString('utf8'), secretsIn);
  if (withheld.length === 0) writeState(path.join(dir, fixFile), patch);
  return withheld;
}

/** Returns the files of a patch that hold secrets, each with the name of the first: `src/auth.ts (value of SESSION_SECRET)`. */
export function withSecrets(patch: string, secretsIn: (text: string) => readonly string[]): string[] {
  return patch.split(/^(?=diff --git )/m).flatMap((part) => {
    const [label] = secretsIn(part);
    const file = /^\+\+\+ b\/(.+)$/m.exec(part)?.[1] ?? /^diff --git a\/(\S+)/.exec(part)?.[1];
    return label === undefined ? [] : [`${file ?? 'a file'} (${label})`];
  });
}
