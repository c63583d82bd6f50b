import { jsonOf } from '../json-of.js';
import { foldedName } from '../paths.js';
import type { Cut } from '../model/guard-findings.js';
import { type JudgedEdit, isSameState } from './request.js';
import { isLockFile, isManifest, protectedReason } from './protected-files.js';
import { isSnapshotPath } from './test-places.js';

/**
 * Finds the edits of files that are protected in every class. `isExpected` says which other files are snapshots, `ofConfig`
 * holds Playwright's config and what it loads. A lock
 * file may change only with its manifest.
 */
export function protectedIn(
  edits: readonly JudgedEdit[],
  {
    isExpected,
    ofConfig,
  }: { readonly isExpected: (file: string) => boolean; readonly ofConfig: ReadonlySet<string> },
): Cut[] {
  const follows = edits.some((edit) => isManifest(edit.path) && !manifestCut(edit));
  return edits.flatMap((edit) => {
    const { path: file, kind } = edit;
    const cut = (why: string) => [{ file, why }];
    if (kind !== 'file')
      return cut(
        kind === 'link'
          ? 'a link may lead to any file'
          : 'what changed in another repository cannot be compared',
      );
    const why = protectedReason(file);
    if (why !== null) return cut(why);
    if (ofConfig.has(file))
      return cut('Playwright’s config, or what it loads, decides how the tests are judged');
    if (isSnapshotPath(file) || isExpected(file)) return cut('a snapshot is what a test expects');
    const ofManifest = manifestCut(edit);
    if (ofManifest) return [ofManifest];
    if (!isLockFile(file)) return [];
    if (!follows) return cut('a lock file may change only with its manifest');
    return locksPlaywright(edit) ? cut('it locks another Playwright') : [];
  });
}

/** Returns a predicate for snapshots that a run found missing. Only Playwright's message tells where the config's path template puts them. */
export function missedSnapshots(errors: readonly string[]): (path: string) => boolean {
  const missing = /snapshot doesn't exist at (.+?)(?:, writing actual)?\.?\s*$/gm;
  const snapshots = errors.flatMap((error) =>
    [...error.matchAll(missing)].map(([, snapshot = '']) => snapshot),
  );
  return (path) => snapshots.some((snapshot) => snapshot.replaceAll('\\', '/').endsWith(`/${path}`));
}

/** What a fix may change in a manifest: versions of packages, and what neither an install, git nor a script executes. */
const fields = new Set(
  `
  dependencies devDependencies peerDependencies peerDependenciesMeta optionalDependencies overrides resolutions
  require require-dev version description keywords license type engines browserslist sideEffects types files
  browser private`
    .trim()
    .split(/\s+/),
);

/** Cuts a manifest in which anything else changed: what changed with it, such as dependencies, is asked with it. */
function manifestCut({ path: file, before, after }: JudgedEdit): Cut | null {
  if (!isManifest(file) || !foldedName(file).endsWith('.json')) return null;
  const [was, is] = [before, after].map((state) => jsonOf(state?.text ?? ''));
  if (!isObject(is)) return { file, why: 'a manifest has to stay readable' };
  const old = isObject(was) ? was : {};
  const isProtected = (name: string) =>
    JSON.stringify(old[name]) !== JSON.stringify(is[name]) &&
    (!fields.has(name) || playwrightIn(old[name]) !== playwrightIn(is[name]));
  const changed = [...new Set([...Object.keys(old), ...Object.keys(is)])].filter(isProtected);
  const names = changed.map((name) => `"${name}"`).join(', ');
  return changed.length === 0
    ? null
    : { file, why: `${names} decide what is installed and executed, and with which Playwright` };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Returns what a value says of Playwright's packages. */
function playwrightIn(value: unknown): string {
  return (
    JSON.stringify(value ?? null).match(
      /"[^"]*(?:@playwright\/test|(?<![\w-])playwright(?:-core)?)(?:@[^"]*)?":(?:"[^"]*"|\{[^}]*\})/g,
    ) ?? []
  ).join();
}

/** Whether the lines of a lock file that name Playwright, or the lines that follow each, differ. */
function locksPlaywright({ before, after }: JudgedEdit): boolean {
  const [was, is] = [before, after].map((state) =>
    state?.text?.match(/(?:["' ]\/?|node_modules\/)@?playwright(?:.*[{:]\s*\n(?:.*\n?){3}|.*)/g)?.join('\n'),
  );
  return !isSameState(before, after) && was !== is;
}
