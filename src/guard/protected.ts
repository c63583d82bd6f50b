import { jsonOf } from '../json-of.js';
import type { Cut } from '../core/guard-findings.js';
import { type FileEdit, isSameState } from './request.js';
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
 * Finds the edits of files that are protected in every class. `isExpected` says which other files are snapshots. A lock
 * file may change only with its manifest.
 */
export function protectedIn(edits: readonly FileEdit[], isExpected: (file: string) => boolean): Cut[] {
  const follows = edits.some((edit) => manifest.test(edit.path) && !manifestCut(edit));
  return edits.flatMap((edit) => {
    const { path: file, kind } = edit;
    const cut = (why: string) => [{ file, why }];
    if (kind !== 'file')
      return cut(
        kind === 'link'
          ? 'a link may lead to any file'
          : 'what changed in another repository cannot be compared',
      );
    const found = protectedPaths.find(([pattern]) => pattern.test(file));
    if (found) return cut(found[1]);
    if (isSnapshotPath(file) || isExpected(file)) return cut('a snapshot is what a test expects');
    const ofManifest = manifestCut(edit);
    if (ofManifest) return [ofManifest];
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

/** Cuts a package.json in which anything of this changed: what else changed with it, such as dependencies, is asked with it. */
function manifestCut({ path: file, before, after }: FileEdit): Cut | null {
  if (!/(?:^|\/)package\.json$/.test(file)) return null;
  const [was, is] = [before, after].map((one) => jsonOf(one?.text ?? ''));
  if (!isObject(is)) return { file, why: 'package.json has to stay readable' };
  const old = isObject(was) ? was : {};
  const isProtected = (name: string) =>
    JSON.stringify(old[name]) !== JSON.stringify(is[name]) &&
    (fields.includes(name) || playwrightIn(old[name]) !== playwrightIn(is[name]));
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
function locksPlaywright({ before, after }: FileEdit): boolean {
  const [was, is] = [before, after].map((one) =>
    one?.text?.match(/(?:["' ]\/?|node_modules\/)@?playwright(?:.*[{:]\s*\n(?:.*\n?){3}|.*)/g)?.join('\n'),
  );
  return !isSameState(before, after) && was !== is;
}
