import { supervise } from '../process/supervise.js';

/** Where and how a program is asked. */
export interface ProbePlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What a program said to both of its streams; the exit code is null where it did not end by itself. */
export interface Probed {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Slow starters need seconds on a busy machine; one that waits for a person never ends. */
const TIMEOUT_MS = 60_000;
const GRACE_MS = 2_000;
/** More than any of the programs says; one that floods is cut. */
const MAX_CHARACTERS = 200_000;

/** Runs a program to its end, with nothing on its standard input, and leaves nothing of it behind. */
export async function probe(argv: readonly string[], { cwd, env }: ProbePlace): Promise<Probed> {
  const [file = '', ...args] = argv;
  let output = '';
  const decoder = new TextDecoder();
  const { ending } = await supervise({
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
  return { exitCode: ending.kind === 'exited' ? ending.exitCode : null, output };
}
