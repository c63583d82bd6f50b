import { reasonOf } from './reason-of.js';

/** Nothing of the repository is started, nothing is locked, and paths are readable. */
const quiet = ['-c', 'core.fsmonitor=false', '-c', 'core.quotepath=false', '-c', 'core.hooksPath=/dev/null'];
const environment = { GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };

/** What a command is given: text on its input, and how long it may take, in milliseconds. */
interface GitOptions {
  readonly input?: string;
  readonly timeoutMs?: number;
}

/** Runs a reading command of git in the user's own repository; null where there is none, or no git, or its time is over. */
export async function git(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string | null> {
  return gitBytes(cwd, args, options).then(String, () => null);
}

/** The same, for those who must know why: rejects with execa's error, whose code is `ENOENT` where git is not installed. */
export async function gitBytes(
  cwd: string,
  args: readonly string[],
  { input = '', timeoutMs = 0 }: GitOptions = {},
): Promise<Buffer> {
  // Loaded by the first command: a suite is started without one.
  const { execa } = await import('execa');
  const { stdout } = await execa('git', [...quiet, ...args], {
    cwd,
    env: { ...withoutGit(process.env), ...environment },
    extendEnv: false,
    input,
    timeout: timeoutMs,
    maxBuffer: 1024 ** 3,
    stripFinalNewline: false,
    encoding: 'buffer',
  });
  return Buffer.from(stdout.buffer, stdout.byteOffset, stdout.byteLength);
}

/** What git itself says, at last, of why it failed: of all that an error tells. */
export function gitSays(error: unknown): string {
  const text = reasonOf(error);
  return [...text.matchAll(/^(?:fatal|error): (.+)/gm)].at(-1)?.[1] ?? text;
}

/** The environment without the variables by which a calling git (a hook, say) names its own repository. */
export function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
}
