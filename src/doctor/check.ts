import { supervise } from '../process/supervise.js';

/** One line of `self-heal doctor` (CL-11). */
export interface Check {
  /** The subject: `node`, `browser`, `claude`. */
  readonly name: string;
  /** `warning`: a run works without it, or there is no way to tell; `failed`: a run would not work. */
  readonly state: 'ok' | 'warning' | 'failed';
  readonly found: string;
  /** What to do about it; null if all is well. */
  readonly remedy: string | null;
}

/** A check that passed. */
export function passed(name: string, found: string): Check {
  return { name, state: 'ok', found, remedy: null };
}

/** A check for something that limits a run, or that cannot be determined. */
export function warning(name: string, found: string, remedy: string): Check {
  return { name, state: 'warning', found, remedy };
}

/** A check for something without which a run would not work. */
export function failed(name: string, found: string, remedy: string): Check {
  return { name, state: 'failed', found, remedy };
}

export interface ProbePlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A program's output on both streams. The exit code is null if it did not exit by itself. */
interface Probed {
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
