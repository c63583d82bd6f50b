import { execa } from 'execa';

const MAX_OUTPUT_CHARACTERS = 64 * 1024;

/** Runs the project's `verify.prepare` command in a shell, as its author wrote it: null when it succeeded, else its output. */
export async function runPrepare(
  command: string,
  { cwd, env, signal }: PrepareOptions,
): Promise<string | null> {
  const result = await execa(command, {
    cwd,
    env,
    shell: true,
    all: true,
    reject: false,
    stdin: 'ignore',
    cancelSignal: signal,
    maxBuffer: MAX_OUTPUT_CHARACTERS * 16,
  });
  return result.failed ? (result.all || (result.shortMessage ?? '')).slice(-MAX_OUTPUT_CHARACTERS) : null;
}

/** Where the command runs. */
export interface PrepareOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}
