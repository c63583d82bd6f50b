import path from 'node:path';
import { z } from 'zod';
import { type GitChanges, compareWithGit, type NoBase } from '../workspace/git-trees.js';
import { readStateJson, writeStateFile } from '../state-folder.js';
import { changesFolder, openContentStore } from '../workspace/change.js';
import { safePath } from '../workspace/safe-path.js';
import { isWritable } from '../workspace/project-files.js';

const schema = z.strictObject({
  schemaVersion: z.literal(1),
  commit: z.string().regex(/^[\da-f]{40,64}$/),
  files: z.array(z.strictObject({ path: safePath, hash: z.string().nullable() })),
});

/** The files of a project at the end of a run: a commit, and the contents of files that differed from it; the hash of a missing file is null. */
export type TreeState = z.infer<typeof schema>;

/** The maximum number of stored files. A larger difference is not a fix in progress. */
const MAX_FILES = 2000;

const getTreeFile = (runDir: string) => path.join(changesFolder(runDir), 'tree.json');

/**
 * Stores the files at the end of a red run, to distinguish later changes from earlier ones. HEAD is not enough, because there may be uncommitted changes.
 * Stores nothing without git, or with too many files.
 */
export async function storeTreeState(runDir: string, cwd: string): Promise<void> {
  const changed = await compareWithGit(cwd, 'HEAD');
  if ('kind' in changed) return;
  const paths = [...changed.changes, ...(await changed.findHidden())].flatMap(({ kind, path: file }) =>
    kind === 'file' && isWritable(file) ? [file] : [],
  );
  if (paths.length > MAX_FILES) return;
  const contents = openContentStore(runDir);
  const bytes = await changed.after.readFiles(paths);
  const files: TreeState['files'] = [];
  for (const file of paths) {
    const content = bytes.get(file);
    files.push({ path: file, hash: content ? await contents.put(content) : null });
  }
  const state: TreeState = { schemaVersion: 1, commit: changed.base, files };
  writeStateFile(getTreeFile(runDir), `${JSON.stringify(state)}\n`);
}

/** Reads the stored files of a run; null if there are none, or if they cannot be read. */
export function readTreeState(runDir: string): TreeState | null {
  return readStateJson(getTreeFile(runDir), schema);
}

/** Compares the working tree with a commit or, given the folder of a run, with its stored files. Rejects if those are missing. */
export async function compareWithState(
  cwd: string,
  { commit, runDir }: { readonly commit: string; readonly runDir: string | null },
): Promise<GitChanges | NoBase> {
  const state = runDir === null ? null : readTreeState(runDir);
  return runDir === null || state === null
    ? compareWithGit(cwd, commit)
    : compareWithTreeState(cwd, { runDir, state });
}

/** Compares the working tree with the stored state of a run. Rejects if its contents are missing. */
export async function compareWithTreeState(
  cwd: string,
  { runDir, state }: { readonly runDir: string; readonly state: TreeState },
): Promise<Awaited<ReturnType<typeof compareWithGit>>> {
  const changed = await compareWithGit(cwd, state.commit);
  if ('kind' in changed) return changed;
  return overlayState(
    changed,
    new Map(state.files.map((file) => [file.path, file.hash])),
    openContentStore(runDir),
  );
}

function overlayState(
  { before, changes, ...changed }: GitChanges,
  storedHashes: ReadonlyMap<string, string | null>,
  contents: Pick<ReturnType<typeof openContentStore>, 'get'>,
): GitChanges {
  const changedPaths = new Set(changes.map((change) => change.path));
  const storedOnly = [...storedHashes.keys()]
    .filter((file) => !changedPaths.has(file))
    .map((file) => ({ path: file }));
  const readFiles = async (paths: readonly string[]) => {
    const bytesByPath = new Map(await before.readFiles(paths.filter((file) => !storedHashes.has(file))));
    for (const file of paths) {
      const hash = storedHashes.get(file);
      if (hash) bytesByPath.set(file, await contents.get(hash));
    }
    return bytesByPath;
  };
  const listPaths = async () => {
    const committed = (await before.listPaths()).filter((file) => !storedHashes.has(file));
    return [...committed, ...[...storedHashes].flatMap(([file, hash]) => (hash === null ? [] : file))];
  };
  return {
    ...changed,
    changes: [...changes, ...storedOnly.map((file) => ({ ...file, kind: 'file' as const }))],
    before: { listPaths, readFiles },
  };
}
