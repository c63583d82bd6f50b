import { type Command, supervise } from './supervise.js';

const MAX_OUTPUT_BYTES = 64 * 1024;
const TIMEOUT_MS = 15 * 60_000;

/** A command of the project that runs to its end. */
export type ProjectCommand = Required<Pick<Command, 'file' | 'args' | 'cwd' | 'env' | 'runId' | 'signal'>>;

/**
 * Runs a command of the project, and ends whatever it leaves behind. Returns null if it succeeded, else the end of its output and how it ended.
 * After 15 minutes it is ended along with everything it started.
 */
export async function runCommand(command: ProjectCommand): Promise<{ output: string; how: string } | null> {
  let output = Buffer.alloc(0);
  const { ended } = supervise({
    ...command,
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
  return { output: output.toString('utf8'), how };
}
