/** A file of an agent's change that does not enter the project: it belongs to the tests, or it is protected. The rest of the change is tried. */
export interface Cut {
  /** Relative to the recorded root, with `/`. */
  readonly file: string;
  /** Why it is cut, as a sentence without its period. */
  readonly why: string;
}

/** Formats what was cut as one line. */
export function cutLine({ file, why }: Cut): string {
  return `${file}: ${why}`;
}

/** What is cut in every class of failure, in words for prompts. */
export const protectedNames =
  'the Playwright config, snapshots, scripts and workspaces in package.json, .npmrc, lock files whose manifest stays, values of .env files that no sample of them has, CI files, agents.yaml, .self-heal/ and git’s files';
