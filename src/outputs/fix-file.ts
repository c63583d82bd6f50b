import path from 'node:path';
import { writeStateFile } from '../state-folder.js';
import { readRunPatch } from '../run/read-patch.js';
import { createSecretNamer } from '../secrets/redactor.js';

/** The file in a run's folder with all of the run's changes, for `git apply` and `self-heal publish`. */
export const fixFile = 'fix.patch';

/**
 * Writes `fix.patch`, unless it would hold a secret on this machine, because applying a masked patch would write the mask into the file. Text that
 * only looks like a secret does not prevent it. Returns the files with secrets: `src/auth.ts (value of SESSION_SECRET)`. Rejects if the file cannot
 * be written.
 */
export async function writeFix(
  dir: string,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<readonly string[]> {
  const patch = await readRunPatch(dir);
  if (!patch || patch.length === 0) throw new Error("the run's changes can no longer be read");
  const findSecrets = await createSecretNamer({ env, projectRoot: cwd });
  const filesWithSecrets = findFilesWithSecrets(patch.toString('utf8'), findSecrets);
  if (filesWithSecrets.length === 0) writeStateFile(path.join(dir, fixFile), patch);
  return filesWithSecrets;
}

/** Returns the files of a patch that hold secrets, each with the name of the first: `src/auth.ts (value of SESSION_SECRET)`. */
export function findFilesWithSecrets(
  patch: string,
  findSecrets: (text: string) => readonly string[],
): string[] {
  return patch.split(/^(?=diff --git )/m).flatMap((part) => {
    const [label] = findSecrets(part);
    const file = /^\+\+\+ b\/(.+)$/m.exec(part)?.[1] ?? /^diff --git a\/(\S+)/.exec(part)?.[1];
    return label === undefined ? [] : [`${file ?? 'a file'} (${label})`];
  });
}

/** Explains why there is no `fix.patch`. The file names must not follow "secret:", because redaction would mask them. */
export function explainMissingFix(files: readonly string[]): string {
  return `${fixFile} was not written, because it would contain secrets from ${files.join(', ')}. Remove them from the files; self-heal report --patch prints the changes with the secrets masked`;
}
