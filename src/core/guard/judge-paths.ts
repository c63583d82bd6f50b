import type { Violation } from './violation.js';

/** A changed file, and whether it is there before and after. */
export interface PathChange {
  /** Relative to the recorded root, with `/`. */
  readonly path: string;
  readonly before: boolean;
  readonly after: boolean;
}

const protectedPaths: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)agents\.ya?ml$/, 'agents.yaml says how self-heal works: only its owner changes it'],
  [/(?:^|\/)\.self-heal\//, 'the folder of self-heal is its own'],
  [/(?:^|\/)\.git\//, 'git’s own folder'],
  [/(?:^|\/)node_modules\/(?:@playwright|playwright)/, 'Playwright itself judges the tests'],
  [
    /(?:^|\/)(?:\.github\/|\.gitlab-ci\.ya?ml$|\.gitlab\/|\.circleci\/|\.buildkite\/|\.azure-pipelines\/|azure-pipelines[\w.-]*\.ya?ml$|Jenkinsfile|bitbucket-pipelines\.ya?ml$|\.travis\.ya?ml$|\.drone\.ya?ml$|appveyor\.ya?ml$|\.woodpecker|\.teamcity\/|\.semaphore\/|cloudbuild\.ya?ml$|buildspec\.ya?ml$)/,
    'a CI file is out of an agent’s reach',
  ],
  [
    /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|composer\.lock|Gemfile\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|Cargo\.lock|go\.sum)$/,
    'a lock file is out of an agent’s reach',
  ],
];

/** Files that no agent may change, whatever the class: agents.yaml, CI files, lock files, self-heal's own folder. */
export function judgeProtected(changes: readonly PathChange[]): Violation[] {
  return changes.flatMap(({ path, before, after }) => {
    const found = protectedPaths.find(([pattern]) => pattern.test(path));
    if (!found) return [];
    const [, says] = found;
    return [
      {
        rule: 'protected-file',
        file: path,
        line: null,
        before: before ? path : null,
        after: after ? path : null,
        says,
      },
    ];
  });
}

/** Whether a file is a snapshot that Playwright compares with. */
export function isSnapshotPath(path: string): boolean {
  return /(?:-snapshots|__snapshots__|__screenshots__)\//.test(path) || /\.aria\.ya?ml$|\.snap$/.test(path);
}

/** A snapshot is an expectation: one that is new, changed or gone is another expectation. */
export function judgeSnapshots(changes: readonly PathChange[]): Violation[] {
  return changes
    .filter(({ path }) => isSnapshotPath(path))
    .map(({ path, before, after }) => ({
      rule: 'snapshot-changed',
      file: path,
      line: null,
      before: before ? path : null,
      after: after ? path : null,
      says: `a snapshot was ${before ? (after ? 'changed' : 'deleted') : 'added'}: it is what the test expects`,
    }));
}
