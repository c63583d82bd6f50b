import process from 'node:process';
import { packageFile } from '../../own-files.js';
import { supervise, type Ending } from '../../process/supervise.js';
import type { Problem } from '../../problem.js';
import { selfTestEnv } from './self-test-env.js';
import type { Scratch } from './lay-out.js';

/** With what the run is started, and who hears of it. */
export interface ThereRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** What goes on, a line at a time. */
  readonly onProgress: (line: string) => void;
}

const selfHeal = packageFile('bin/self-heal.js');

/** It takes one minute on a slow machine; after five something is stuck, and that is a result. */
const TIMEOUT_MS = 5 * 60_000;
/** The run ends its agents and browsers in this time when it is interrupted. */
const GRACE_MS = 20_000;
/** Of what the run printed, so much is shown where it came to no report. */
const TAIL_LINES = 15;

/** How the run of a self-test ended. */
export interface RunThere {
  readonly ending: Ending;
  readonly orphans: readonly string[];
  /** The last lines that it printed. */
  readonly tail: string;
}

/** Runs this very self-heal in the scratch project, as a process of its own, to its end. */
export async function runThere({ project }: Scratch, request: ThereRequest): Promise<RunThere> {
  const lines: string[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  const { ending, orphans } = await supervise({
    file: process.execPath,
    args: [selfHeal, 'run', '--json'],
    cwd: project,
    env: selfTestEnv(request.env),
    input: '',
    timeoutMs: TIMEOUT_MS,
    graceMs: GRACE_MS,
    signal: request.signal,
    onStart: () => undefined,
    onOutput: (chunk, from) => {
      // Standard output is the report, which is read from its file.
      if (from === 'stdout') return;
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        lines.push(line);
        if (line.startsWith('self-heal ')) request.onProgress(line.slice('self-heal '.length));
      }
    },
  }).ended;
  return { ending, orphans, tail: [...lines, rest].slice(-TAIL_LINES).join('\n').trim() };
}

/** A run that left no report; its scratch copy in `dir` is kept. */
export function noReport({ ending, tail }: RunThere, dir: string): Problem {
  return {
    kind: 'usage',
    message: `the run of the self-test left no report: ${endingText(ending)}`,
    detail: tail,
    remedy: `\`self-heal doctor\` may say what is missing. The scratch copy was kept: ${dir}`,
  };
}

function endingText(ending: Ending): string {
  switch (ending.kind) {
    case 'exited':
      return `it exited with ${ending.exitCode}`;
    case 'signalled':
      return `it was killed by ${ending.signal}`;
    case 'timed-out':
      return `it was stopped after ${TIMEOUT_MS / 60_000} minutes`;
    case 'spawn-failed':
      return ending.reason;
    case 'aborted':
    case 'stopped':
      return 'it was interrupted';
    default:
      return ending satisfies never;
  }
}
