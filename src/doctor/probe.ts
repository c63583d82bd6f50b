import { supervise } from '../process/supervise.js';

/** Where a program is probed. */
export interface ProbePlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A program's output on both streams. The exit code is null if it did not exit by itself. */
export interface Probed {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Slow programs need seconds to start on a busy machine; a program that waits for input never ends. */
const TIMEOUT_MS = 60_000;
const GRACE_MS = 2_000;
/** More than any of the programs prints; the rest is dropped. */
const MAX_CHARACTERS = 200_000;

/** Runs a program to its end with empty standard input, and leaves none of its processes behind. */
export async function probe(argv: readonly string[], { cwd, env }: ProbePlace): Promise<Probed> {
  const [file = '', ...args] = argv;
  let output = '';
  const decoder = new TextDecoder();
  const { end } = await supervise({
    file,
    args,
    cwd,
    env,
    input: '',
    timeoutMs: TIMEOUT_MS,
    graceMs: GRACE_MS,
    signal: new AbortController().signal,
    onStart: () => undefined,
    onOutput: (chunk) => {
      if (output.length < MAX_CHARACTERS) output += decoder.decode(chunk, { stream: true });
    },
  }).ended;
  return { exitCode: end.kind === 'exited' ? end.exitCode : null, output };
}
