import process from 'node:process';
import { lineSplitter } from '../../agents/line-splitter.js';
import { packageFile } from '../../own-files.js';
import { supervise, type ProcessEnd } from '../../process/supervise.js';
import type { Problem } from '../../problem.js';
import { selfTestEnv } from './self-test-env.js';
import type { Scratch } from './lay-out.js';

/** The environment of a run in the scratch project, and how to report progress. */
export interface ThereRequest {
  readonly env: NodeJS.ProcessEnv;
  /** Aborting ends the run. */
  readonly signal: AbortSignal;
  /** Called with each line of progress. */
  readonly onProgress: (line: string) => void;
}

const selfHeal = packageFile('bin/self-heal.js');

/** A run takes one minute on a slow machine. After five it is stuck, which is a result too. */
const TIMEOUT_MS = 5 * 60_000;
/** An interrupted run ends its agents and browsers within this time. */
const GRACE_MS = 20_000;
/** How many lines of output are shown if there is no report. */
const TAIL_LINES = 15;

/** How the self-test's run ended. */
export interface RunThere {
  readonly end: ProcessEnd;
  readonly orphans: readonly string[];
  /** The last lines of its output. */
  readonly tail: string;
}

/** Runs this self-heal in the scratch project as a separate process, to its end. */
export async function runThere({ project }: Scratch, request: ThereRequest): Promise<RunThere> {
  const lines: string[] = [];
  const printed = lineSplitter((line) => {
    lines.push(line);
    if (line.startsWith('self-heal ')) request.onProgress(line.slice('self-heal '.length));
  });
  const { end, orphans } = await supervise({
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
      // Standard output holds the report, which is read from its file.
      if (from === 'stderr') printed.write(chunk);
    },
  }).ended;
  printed.end();
  return { end, orphans, tail: lines.slice(-TAIL_LINES).join('\n').trim() };
}

/** The problem that the run left no report. Its scratch copy in `dir` is kept. */
export function noReport({ end, tail }: RunThere, dir: string): Problem {
  return {
    kind: 'usage',
    message: `the run in the scratch copy left no report: ${end.kind === 'exited' ? `it exited with ${end.exitCode}` : end.kind}`,
    detail: tail,
    remedy: `\`self-heal doctor\` may show what is missing. The scratch copy was kept: ${dir}`,
  };
}
