import { jsonOf } from '../json-of.js';
import { foldName } from '../paths.js';
import type { Cut } from '../model/guard-findings.js';
import { type JudgedEdit, isSameState } from './request.js';
import { isLockFile, isManifest, explainProtection } from './protected-files.js';
import { isSnapshotPath } from './test-paths.js';

/**
 * Finds the edits to files that are protected in every class. `isExpected` is true for further snapshots, and `ofConfig` contains Playwright's
 * config and the files that it loads. A lock file may change only with its manifest.
 */
export function findProtectedEdits(
  edits: readonly JudgedEdit[],
  {
    isExpected,
    ofConfig,
  }: { readonly isExpected: (file: string) => boolean; readonly ofConfig: ReadonlySet<string> },
): Cut[] {
  const follows = edits.some((edit) => isManifest(edit.path) && !cutManifest(edit));
  return edits.flatMap((edit) => {
    const { path: file, kind } = edit;
    const cutBecause = (why: string) => [{ file, why }];
    if (kind !== 'file')
      return cutBecause(
        kind === 'link' ? 'a link may point to any file' : 'changes in another repository cannot be compared',
      );
    const why = explainProtection(file);
    if (why !== null) return cutBecause(why);
    if (ofConfig.has(file))
      return cutBecause('Playwright’s config and the files that it loads decide how the tests run');
    if (isSnapshotPath(file) || isExpected(file)) return cutBecause('a snapshot is what a test expects');
    const ofManifest = cutManifest(edit);
    if (ofManifest) return [ofManifest];
    if (!isLockFile(file)) return [];
    if (!follows) return cutBecause('a lock file may change only with its manifest');
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
  const [was, is] = [before, after].map((state) => jsonOf(state?.text ?? ''));
  if (!isObject(is)) return { file, why: 'a manifest must stay valid JSON' };
  const old = isObject(was) ? was : {};
  const isProtected = (name: string) =>
    JSON.stringify(old[name]) !== JSON.stringify(is[name]) &&
    (!freeFields.has(name) || readPlaywrightVersions(old[name]) !== readPlaywrightVersions(is[name]));
  const changed = [...new Set([...Object.keys(old), ...Object.keys(is)])].filter(isProtected);
  const names = changed.map((name) => `"${name}"`).join(', ');
  return changed.length === 0
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
  const [was, is] = [before, after].map((state) =>
    state?.text?.match(/(?:["' ]\/?|node_modules\/)@?playwright(?:.*[{:]\s*\n(?:.*\n?){3}|.*)/g)?.join('\n'),
  );
  return !isSameState(before, after) && was !== is;
}
