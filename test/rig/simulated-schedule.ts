import path from 'node:path';
import type { AgentEnd } from '../../src/model/attempt.js';
import { noFindings } from '../../src/guard/findings.js';
import { createViolation } from '../../src/guard/rules.js';
import { completedRun } from './healing-session.js';
import { type TestSimulation, simulatedRun, wholeProof } from './simulated-run.js';
import { createRandom } from './simulated-suite.js';

/** The behaviors of simulated agents. */
const behaviors = [
  'heals',
  'does nothing',
  'heals another',
  'breaks another',
  'cheats',
  'conflicts',
  'dies',
  'times out',
  'asks',
] as const;

/**
 * Simulates a run whose agents conflict, die, cheat and time out in random order, with a random delay at each step. Throws if two tasks use the
 * working tree at once or if the run hangs; returns its results and limits.
 */
export async function simulatedSchedule(seed: number) {
  const random = createRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const count = 1 + upTo(5);
  const [parallel, agentRuns] = [1 + upTo(3), 2 + upTo(12)];
  const tests = Array.from({ length: count }, (_, at) => `t${at + 1}`);
  const pause = async () => {
    for (let turns = upTo(6); turns > 0; turns -= 1)
      await new Promise((resolve) => void setImmediate(resolve));
  };
  /** The behavior of each change, by its id. */
  const made = new Map<string, { readonly test: string; readonly does: (typeof behaviors)[number] }>();
  const next = (test: string) => tests[(tests.indexOf(test) + 1) % count] ?? test;
  const shows: TestSimulation = (test, { fixes }) => {
    const activeChanges = [...fixes].flatMap((id) => made.get(id) ?? []);
    if (activeChanges.some((one) => one.does === 'breaks another' && next(one.test) === test && count > 1))
      return 'broken';
    const heals = (one: (typeof activeChanges)[number]) =>
      ((one.does === 'heals' || one.does === 'breaks another' || one.does === 'conflicts') &&
        one.test === test) ||
      (one.does === 'heals another' && (one.test === test || next(one.test) === test));
    return activeChanges.some(heals) ? null : `fault of ${test}`;
  };
  let [atWork, most, started] = [0, 0, 0];
  const conflicted = new Set<string>();
  const running = simulatedRun(tests, shows, {
    settings: {
      ...wholeProof,
      retries: { ...wholeProof.retries, max: 2 },
      limits: { ...wholeProof.limits, parallel, agentRuns },
    },
    pause,
    conflicts: (id) => {
      const isNew = made.get(id)?.does === 'conflicts' && !conflicted.has(id);
      conflicted.add(id);
      return isNew;
    },
    guard: async ({ after }) => {
      const cheats = [...made.values()].at(-1)?.does === 'cheats' && after !== undefined;
      return cheats
        ? {
            ...noFindings,
            violations: [createViolation('cannot-be-judged', { file: 'src/a.ts', detail: 'cheat' })],
          }
        : noFindings;
    },
    runAgent: async ({ prompt, onStart, signal, logFile }) => {
      onStart(1);
      [started, atWork] = [started + 1, atWork + 1];
      most = Math.max(most, atWork);
      const test = /^Test:.*\b(t\d)\b/m.exec(prompt)?.[1] ?? '';
      const does = behaviors[upTo(behaviors.length - 1)] ?? 'heals';
      made.set(path.basename(logFile, '.log'), { test, does });
      await pause();
      atWork -= 1;
      const ends: Partial<Record<typeof does, AgentEnd>> = {
        dies: { kind: 'signalled', signal: 'SIGKILL' },
        'times out': { kind: 'timed-out', afterMs: 1000 },
      };
      const end: AgentEnd = signal.aborted ? { kind: 'aborted' } : (ends[does] ?? { kind: 'completed' });
      return does === 'asks'
        ? { ...completedRun, end, claim: { status: 'needs-person', summary: 'which?' } }
        : { ...completedRun, end };
    },
  });
  const stuck = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`seed ${seed}: nothing goes on`)), 20_000).unref();
  });
  const run = await Promise.race([running, stuck]);
  const { report, fixes, decided, verdicts } = run;
  return { count, parallel, agentRuns, most, started, report, fixes, decided, verdicts };
}
