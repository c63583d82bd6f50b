import { withPackageBins } from '../process/find-program.js';
import { supervise } from '../process/supervise.js';

const MAX_OUTPUT_BYTES = 64 * 1024;
const TIMEOUT_MS = 15 * 60_000;

/** Where the command runs, and what ends it. */
export interface PrepareOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly runId: string;
}

/**
 * Runs the project's `verify.prepare` in a shell, exactly as written (HL-9). Returns null if it succeeded, else the end of its output.
 * After 15 minutes it is ended along with everything it started.
 */
export async function runPrepare(command: string, options: PrepareOptions): Promise<string | null> {
  let output = Buffer.alloc(0);
  const shell = process.platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c'] : ['/bin/sh', '-c'];
  const [file = '', ...flags] = shell;
  const { ended } = supervise({
    ...options,
    env: withPackageBins(options),
    file,
    args: [...flags, command],
    input: '',
    timeoutMs: TIMEOUT_MS,
    graceMs: 5000,
    onStart: () => undefined,
    onOutput: (chunk) => {
      output = Buffer.concat([output, chunk]).subarray(-MAX_OUTPUT_BYTES);
    },
  });
  const { end } = await ended;
  if (end.kind === 'exited' && end.exitCode === 0) return null;
  const how = end.kind === 'exited' ? `exit code ${end.exitCode}` : end.kind;
  return `${output.toString('utf8')}\nverify.prepare ended with ${how}`;
}
