import { parseJson } from '../parse-json.js';
import { foldName } from '../paths.js';
import type { Cut } from '../model/guard-findings.js';
import { type JudgedEdit, isSameState } from './request.js';
import { isLockFile, isManifest, explainProtection } from './protected-files.js';
import { isSnapshotPath } from './test-paths.js';

/**
 * Finds the edits to protected files, which no class of failure allows. `isMissedSnapshot` is true for snapshots that a run found missing, and
 * `configFiles` contains Playwright's config and the files that it loads. A lock file may change only with its manifest.
 */
export function findProtectedEdits(
  edits: readonly JudgedEdit[],
  {
    isMissedSnapshot,
    configFiles,
  }: { readonly isMissedSnapshot: (file: string) => boolean; readonly configFiles: ReadonlySet<string> },
): Cut[] {
  const changesManifest = edits.some((edit) => isManifest(edit.path) && !cutManifest(edit));
  return edits.flatMap((edit) => {
    const { path: file, kind } = edit;
    const cutBecause = (why: string) => [{ file, why }];
    if (kind !== 'file')
      return cutBecause(
        kind === 'link' ? 'a link may point to any file' : 'changes in another repository cannot be compared',
      );
    const why = explainProtection(file);
    if (why !== null) return cutBecause(why);
    if (configFiles.has(file))
      return cutBecause('Playwright’s config and the files that it loads decide how the tests run');
    if (isSnapshotPath(file) || isMissedSnapshot(file))
      return cutBecause('a snapshot is what a test expects');
    const cut = cutManifest(edit);
    if (cut) return [cut];
    if (!isLockFile(file)) return [];
    if (!changesManifest) return cutBecause('a lock file may change only with its manifest');
    return changesLockedPlaywright(edit) ? cutBecause('it locks a different version of Playwright') : [];
  });
}

/** Creates a predicate for snapshots that a run found missing. Only Playwright's message shows where the config's path template puts them. */
export function createMissedSnapshotCheck(errors: readonly string[]): (path: string) => boolean {
  const missing = /snapshot doesn't exist at (.+?)(?:, writing actual)?\.?\s*$/gm;
  const snapshots = errors.flatMap((error) =>
    [...error.matchAll(missing)].map(([, snapshot = '']) => snapshot),
  );
  return (path) => snapshots.some((snapshot) => snapshot.replaceAll('\\', '/').endsWith(`/${path}`));
}

/** The fields of a manifest that a fix may change: versions of packages, and fields that neither an install, git nor a script executes. */
const freeFields = new Set(
  `
  dependencies devDependencies peerDependencies peerDependenciesMeta optionalDependencies overrides resolutions
  require require-dev version description keywords license type engines browserslist sideEffects types files
  browser private`
    .trim()
    .split(/\s+/),
);

/** Cuts a manifest as a whole if any other field changed, so that a person decides about all its changes, such as dependencies, together. */
function cutManifest({ path: file, before, after }: JudgedEdit): Cut | null {
  if (!isManifest(file) || !foldName(file).endsWith('.json')) return null;
  const [oldValue, newValue] = [before, after].map((state) => parseJson(state?.text ?? ''));
  if (!isObject(newValue)) return { file, why: 'a manifest must stay valid JSON' };
  const old = isObject(oldValue) ? oldValue : {};
  const isProtected = (name: string) =>
    JSON.stringify(old[name]) !== JSON.stringify(newValue[name]) &&
    (!freeFields.has(name) || readPlaywrightVersions(old[name]) !== readPlaywrightVersions(newValue[name]));
  const protectedFields = [...new Set([...Object.keys(old), ...Object.keys(newValue)])].filter(isProtected);
  const names = protectedFields.map((name) => `"${name}"`).join(', ');
  return protectedFields.length === 0
    ? null
    : {
        file,
        why: `${names} control the installed packages, the executed scripts or the version of Playwright`,
      };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Returns the versions of Playwright's packages in a value. */
function readPlaywrightVersions(value: unknown): string {
  return (
    JSON.stringify(value ?? null).match(
      /"[^"]*(?:@playwright\/test|(?<![\w-])playwright(?:-core)?)(?:@[^"]*)?":(?:"[^"]*"|\{[^}]*\})/g,
    ) ?? []
  ).join();
}

/** True if a lock file's lines about Playwright differ: those that name it, and the line after each. */
function changesLockedPlaywright({ before, after }: JudgedEdit): boolean {
  const [oldValue, newValue] = [before, after].map((state) =>
    state?.text?.match(/(?:["' ]\/?|node_modules\/)@?playwright(?:.*[{:]\s*\n(?:.*\n?){3}|.*)/g)?.join('\n'),
  );
  return !isSameState(before, after) && oldValue !== newValue;
}
