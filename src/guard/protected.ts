import { jsonOf } from '../json-of.js';
import type { CutFile } from './findings.js';
import { type FileEdit, isSameState } from './edit.js';
import { isSnapshotPath } from './test-places.js';

/** Files that no agent may change, whatever the class of the failure, and why. */
const protectedPaths: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)agents\.ya?ml$/, 'it configures self-heal'],
  [/(?:^|\/)\.self-heal\//, 'the folder belongs to self-heal'],
  [/(?:^|\/)(?:\.git\/|\.git(?:modules|attributes|ignore)$|\.husky\/|\.githooks\/)/, 'it belongs to git'],
  [/(?:^|\/)(?:node_modules|\.?[\w-]*patches)\/@?playwright/, 'Playwright itself judges the tests'],
  [/(?:^|\/)playwright(?:-ct)?\.config\.[cm]?[jt]s$/, 'it is a Playwright config'],
  [
    /(?:^|\/)(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.[cm]?js|pnpmfile\.[cm]?js|pnpm-workspace\.yaml|bunfig\.toml|binding\.gyp|\.yarn\/(?:releases|plugins)\/.+|\.pnp\.[\w.]+)$/,
    'it decides what an install does',
  ],
  [
    /(?:^|\/)(?:\.github\/|\.gitlab-ci\.ya?ml$|\.gitlab\/|\.circleci\/|\.buildkite\/|\.azure-pipelines\/|azure-pipelines[\w.-]*\.ya?ml$|Jenkinsfile|bitbucket-pipelines\.ya?ml$|\.travis\.ya?ml$|\.drone\.ya?ml$|appveyor\.ya?ml$|\.woodpecker|\.teamcity\/|\.semaphore\/|cloudbuild\.ya?ml$|buildspec\.ya?ml$)/,
    'it is a CI file',
  ],
];

const manifest =
  /(?:^|\/)(?:package\.json|composer\.json|Gemfile|pyproject\.toml|Pipfile|Cargo\.toml|go\.mod|deno\.json)$/;
const lockFile =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|composer\.lock|Gemfile\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|Cargo\.lock|go\.sum)$/;

/**
 * Finds the edits of files that are protected in every class, whole or in part. `isExpected` says which other files are snapshots. A lock
 * file may change only with its manifest.
 */
export function protectedIn(edits: readonly FileEdit[], isExpected: (file: string) => boolean): CutFile[] {
  const manifests = edits
    .filter(({ path }) => manifest.test(path))
    .map((edit) => ({ edit, cut: manifestCut(edit) }));
  const follows = manifests.some(({ cut }) => cut === null || cut.instead !== null);
  return edits.flatMap((edit) => {
    const { path: file, kind } = edit;
    const cut = (why: string) => [{ file, why, instead: null }];
    if (kind !== 'file')
      return cut(
        kind === 'link'
          ? 'a link may lead to any file'
          : 'what changed in another repository cannot be compared',
      );
    const found = protectedPaths.find(([pattern]) => pattern.test(file));
    if (found) return cut(found[1]);
    if (isSnapshotPath(file) || isExpected(file)) return cut('a snapshot is what a test expects');
    const partly = manifests.find((one) => one.edit === edit)?.cut;
    if (partly) return [partly];
    if (!lockFile.test(file)) return [];
    if (!follows) return cut('a lock file may change only with its manifest');
    return locksPlaywright(edit) ? cut('it locks another Playwright') : [];
  });
}

/** Returns a predicate for snapshots that a run found missing. Only Playwright's message tells where the config's path template puts them. */
export function missedSnapshots(errors: readonly string[]): (path: string) => boolean {
  const said = /snapshot doesn't exist at (.+?)(?:, writing actual)?\.?\s*$/gm;
  const places = errors.flatMap((error) => [...error.matchAll(said)].map(([, place = '']) => place));
  return (path) => places.some((place) => place.replaceAll('\\', '/').endsWith(`/${path}`));
}

/** What starts the tests, what an install executes, and which package is meant: programs, aliases and entries. */
const fields = [
  'scripts',
  'workspaces',
  'bin',
  'packageManager',
  'trustedDependencies',
  'imports',
  'name',
  'main',
  'module',
  'exports',
  'publishConfig',
];

/** Cuts from a package.json what is protected in it, and leaves the rest: dependencies, for example. */
function manifestCut({ path: file, before, after }: FileEdit): CutFile | null {
  if (!/(?:^|\/)package\.json$/.test(file)) return null;
  const [was, is] = [before, after].map((one) => jsonOf(one?.text ?? ''));
  if (!isObject(is)) return { file, why: 'package.json has to stay readable', instead: null };
  const old = isObject(was) ? was : {};
  const names = new Set([...Object.keys(old), ...Object.keys(is)]);
  const isProtected = (name: string) =>
    JSON.stringify(old[name]) !== JSON.stringify(is[name]) &&
    (fields.includes(name) || playwrightIn(old[name]) !== playwrightIn(is[name]));
  const changed = [...names].filter(isProtected);
  if (changed.length === 0) return null;
  const kept = Object.fromEntries(
    [...names].flatMap((name) => {
      const value = changed.includes(name) ? restored(name, old[name], is[name]) : is[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const text = `${JSON.stringify(kept, null, /^[ \t]+(?=")/m.exec(after?.text ?? '')?.[0] ?? 0)}\n`;
  const isNothing =
    JSON.stringify(jsonOf(text)) === JSON.stringify(was) ||
    (before === null && Object.keys(kept).length === 0);
  const why = `${changed.map((name) => `"${name}"`).join(', ')} decide what is installed and executed, and with which Playwright`;
  return { file, why, instead: isNothing ? null : text };
}

/** Returns what a protected field was. Of dependencies, only Playwright's own go back. */
function restored(name: string, was: unknown, is: unknown): unknown {
  if (!name.endsWith('ependencies') || !isObject(is) || Array.isArray(is)) return was;
  const isPlaywrights = (one: string) => /^@?playwright\b/.test(one);
  const others = Object.entries(is).filter(([one]) => !isPlaywrights(one));
  return Object.fromEntries([
    ...Object.entries(isObject(was) ? was : {}).filter(([one]) => isPlaywrights(one)),
    ...others,
  ]);
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
function locksPlaywright({ before, after }: FileEdit): boolean {
  const [was, is] = [before, after].map((one) =>
    one?.text?.match(/(?:["' ]\/?|node_modules\/)@?playwright(?:.*[{:]\s*\n(?:.*\n?){3}|.*)/g)?.join('\n'),
  );
  return !isSameState(before, after) && was !== is;
}
