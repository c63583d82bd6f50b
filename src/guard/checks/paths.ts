import type { Violation } from '../../core/guard/violation.js';
import { isCode } from '../../code/imports.js';
import { jsonSettings } from '../../code/json-settings.js';
import type { Change } from '../change.js';
import { type Rule, violationOf } from '../rules.js';
import type { FileEdit } from '../edit.js';
import { isSnapshotPath } from '../test-places.js';

const protectedPaths: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)agents\.ya?ml$/, 'agents.yaml configures self-heal'],
  [/(?:^|\/)\.self-heal\//, 'the folder belongs to self-heal'],
  [/(?:^|\/)\.git\//, 'the folder belongs to git'],
  [/(?:^|\/)(?:node_modules|\.?[\w-]*patches)\/@?playwright/, 'Playwright itself judges the tests'],
  [/(?:^|\/)(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.[cm]?js)$/, 'it decides what an install does'],
  [
    /(?:^|\/)(?:\.github\/|\.gitlab-ci\.ya?ml$|\.gitlab\/|\.circleci\/|\.buildkite\/|\.azure-pipelines\/|azure-pipelines[\w.-]*\.ya?ml$|Jenkinsfile|bitbucket-pipelines\.ya?ml$|\.travis\.ya?ml$|\.drone\.ya?ml$|appveyor\.ya?ml$|\.woodpecker|\.teamcity\/|\.semaphore\/|cloudbuild\.ya?ml$|buildspec\.ya?ml$)/,
    'a CI file',
  ],
];

/** Files that `self-heal init` writes. */
const setUp =
  /(?:^|\/)agents\.ya?ml$|^\.github\/workflows\/self-heal\.yml$|^\.gitlab\/self-heal\.gitlab-ci\.yml$/;

const lockFile =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|composer\.lock|Gemfile\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|Cargo\.lock|go\.sum)$/;
const manifest =
  /(?:^|\/)(?:package\.json|composer\.json|Gemfile|pyproject\.toml|Pipfile|Cargo\.toml|go\.mod|deno\.json)$/;

/**
 * Judges changes to files that no agent may touch, whatever the class of the failure. A lock file may change only together with a
 * manifest.
 */
export function judgePaths(change: Change): Violation[] {
  const { request, edits } = change;
  const allowed = setUpFiles(change);
  const follows = edits.some(({ path }) => manifest.test(path));
  const isExpected = missedSnapshots(request.pages?.flatMap((page) => page.errors) ?? []);
  return edits.flatMap((edit) => {
    if (edit.kind !== 'file')
      return [whole(edit.kind === 'link' ? 'link-changed' : 'repository-changed', edit)];
    const found = protectedPaths.find(([pattern]) => pattern.test(edit.path));
    if (found && !allowed.includes(edit.path)) return [whole('protected-file', edit, found[1])];
    if (isSnapshotPath(edit.path) || isExpected(edit.path)) return [whole('snapshot-changed', edit)];
    if (!edit.before && /(?:^|\/)playwright\.config\.[mc]?[jt]s$/.test(edit.path))
      return [whole('config-changed', edit, 'another Playwright config')];
    if (/(?:^|\/)package\.json$/.test(edit.path)) return judgePackage(edit);
    if (!lockFile.test(edit.path)) return [];
    if (!follows) return [whole('protected-file', edit, 'a lock file, although no manifest changed')];
    return locksPlaywright(edit) ? [whole('package-changed', edit, 'it locks another Playwright')] : [];
  });
}

/**
 * What a package.json says about how the tests are started, with which Playwright, what an install executes, and which package is meant:
 * scripts, workspaces, programs, the package manager, aliases and entries.
 */
const protectedFields =
  /^(?:scripts|workspaces|bin|packageManager|imports|name|main|module|exports)(?:\.|$)|(?<=[./>])(?:@playwright\/test|playwright(?:-core)?)(?:$|[.@])/;

function judgePackage(edit: FileEdit): Violation[] {
  const [was, is] = [edit.before, edit.after].map((one) => jsonSettings(one?.text ?? '{}'));
  if (!edit.before) return [];
  if (!is) return [whole('package-changed', edit, 'it can no longer be read')];
  const keys = [...new Set([...(was?.keys() ?? []), ...is.keys()])];
  const changed = keys.filter((key) => protectedFields.test(key) && was?.get(key) !== is.get(key));
  return changed.map((key) => whole('package-changed', edit, key));
}

/** Returns the files with which a branch sets up self-heal for the first time, as only a person does. */
export function setUpFiles({ request, edits, paths }: Change): string[] {
  if (!request.isBranch) return [];
  const namesOf = (file: string) => ['.yaml', '.yml'].map((extension) => file.replace(/\.ya?ml$/, extension));
  return edits.flatMap((edit) => {
    const isNew = edit.kind === 'file' && !namesOf(edit.path).some((one) => paths.has(one));
    return isNew && setUp.test(edit.path) ? [edit.path] : [];
  });
}

/** Finds new modules that an import without an extension may resolve to instead of an existing module of the tests (HN-3). */
export function judgeShadows({ edits, old }: Change): Violation[] {
  const stemOf = (file: string) => file.replace(/(?:\/index)?\.[cm]?[jt]sx?$/, '');
  const gone = new Set(edits.filter((one) => !one.after).map((one) => one.path));
  const stems = new Map(
    [...old.parsed.keys()].flatMap((file) => (gone.has(file) ? [] : [[stemOf(file), file] as const])),
  );
  return edits.flatMap((edit) => {
    const shadowed = isCode(edit.path) && !edit.before ? stems.get(stemOf(edit.path)) : undefined;
    return shadowed && shadowed !== edit.path ? [whole('module-shadowed', edit, shadowed)] : [];
  });
}

/** Creates a violation by a file as a whole. */
export function whole(rule: Rule, { path, before, after }: FileEdit, detail?: string): Violation {
  return violationOf(rule, { file: path, before: before && path, after: after && path, detail });
}

/** Whether the lines of a lock file that name Playwright, or the lines that follow each, differ. */
function locksPlaywright({ before, after }: FileEdit): boolean {
  const [was, is] = [before, after].map((one) =>
    one?.text?.match(/(?:["' ]\/?|node_modules\/)@?playwright(?:.*[{:]\s*\n(?:.*\n?){3}|.*)/g)?.join('\n'),
  );
  return was !== is;
}

/** Returns a predicate for snapshots that a run found missing. Only Playwright's message tells where the config's path template puts them. */
function missedSnapshots(errors: readonly string[]): (path: string) => boolean {
  const said = /snapshot doesn't exist at (.+?)(?:, writing actual)?\.?\s*$/gm;
  const places = errors.flatMap((error) => [...error.matchAll(said)].map(([, place = '']) => place));
  return (path) => places.some((place) => place.replaceAll('\\', '/').endsWith(`/${path}`));
}
