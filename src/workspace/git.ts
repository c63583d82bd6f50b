import { execa } from 'execa';

/** A private git store over the user's files: none of its commands touch the user's own `.git`. */
export interface Git {
  /** Runs git and gives its standard output without the last line end; rejects when git fails. */
  run(args: readonly string[], options?: { input?: string }): Promise<string>;
  /** The same, as bytes: a patch of a Latin-1 file is not UTF-8. */
  bytes(args: readonly string[], options?: { input?: string | Uint8Array }): Promise<Uint8Array>;
}

/**
 * Settings that make a snapshot hold the very bytes of the user's files, whatever their own git is set to, and that
 * keep git from starting programs (hooks, file-system monitors, signing).
 */
const exactBytes = [
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.fsmonitor=false',
  'core.quotepath=false',
  'core.longpaths=true',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'advice.addEmbeddedRepo=false',
  'gc.auto=0',
];

/** A git whose store is `gitDir` and whose files are those below `workTree`. */
export function privateGit(gitDir: string, workTree: string): Git {
  const config = exactBytes.flatMap((setting) => ['-c', setting]);
  const options = {
    cwd: workTree,
    env: { ...withoutGit(process.env), GIT_DIR: gitDir, GIT_WORK_TREE: workTree, GIT_OPTIONAL_LOCKS: '0' },
    extendEnv: false,
    maxBuffer: 512 * 1024 * 1024,
  } as const;
  return {
    run: async (args, { input = '' } = {}) =>
      (await execa('git', [...config, ...args], { ...options, input })).stdout,
    bytes: async (args, { input = '' } = {}) => {
      const stdio = { input, encoding: 'buffer', stripFinalNewline: false } as const;
      return (await execa('git', [...config, ...args], { ...options, ...stdio })).stdout;
    },
  };
}

/** The environment without the variables by which a calling git (a hook, say) names its own store. */
export function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
}
