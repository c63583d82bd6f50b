import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { AgentRun } from '../../src/model/attempt.js';
import { writeFailure } from '../../src/command/diagnose.js';
import type { Cause, DiagnosedFailure } from '../../src/model/cause.js';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import { noStore } from '../../src/store/warning-store.js';
import { createRunFolder, getProjectRoot } from '../../src/run/run-folder.js';
import { createRedactorForValues } from '../../src/secrets/redactor.js';
import type { Diagnostics, Session, Suite } from '../../src/heal/session.js';
import type { CauseWork } from '../../src/heal/cause-work.js';
import { healCause } from '../../src/heal/heal-cause.js';
import { createWork } from '../../src/heal/heal-causes.js';
import { createProgress } from '../../src/heal/progress.js';
import { Schedule } from '../../src/heal/schedule.js';
import type { Observation } from '../../src/heal/judge.js';
import { failureKey } from '../../src/model/failure.js';
import { Observations } from '../../src/heal/observations.js';
import { createRunPlan } from '../../src/run/run-plan.js';
import { createSpending } from '../../src/run/spending.js';
import { openContentStore } from '../../src/workspace/change.js';
import { aResult, aSuiteRun, failing, someSettings } from './builders.js';
import { recordingBus } from './recording-bus.js';
import { removeAfterTest, tempDir } from './temp-dir.js';
import { virtualClock } from './virtual-clock.js';

/** An agent that completed. */
export const completedRun: AgentRun = {
  end: { kind: 'completed' },
  claim: { status: 'fixed', summary: 'done' },
  usage: { costUsd: 0.5, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
  denials: [],
  durationMs: 1000,
  tail: '',
  orphans: [],
};

const tree = { listPaths: async () => [], readFiles: async () => new Map<string, Uint8Array>() };

/** The collected changes of an agent that changed nothing. */
export const noChange = {
  change: null,
  ignored: [],
  refused: null,
  changedInProject: [],
  before: tree,
  after: tree,
};

/** Overrides parts of a session. */
export type SessionOver = Partial<Omit<Session, 'suite' | 'diagnostics'>> & {
  readonly suite?: Partial<Suite>;
  readonly diagnostics?: Partial<Diagnostics>;
};

/**
 * Creates a session in which everything is simulated except the run's folder. `reruns` lists the result of test t1 in each re-run: null for
 * green, or its error message.
 */
export async function healingSession(
  reruns: readonly (string | null)[],
  { suite, diagnostics, ...over }: SessionOver = {},
) {
  const clock = virtualClock();
  const { bus, events } = recordingBus(clock);
  const folder = await createRunFolder(tempDir(), 'run');
  if (!folder.ok) throw new Error(folder.error.message);
  removeAfterTest(getProjectRoot(folder.value.dir));
  const agents: string[] = [];
  const moves: string[] = [];
  let rerun = 0;
  const stack: string[] = [];
  let inTree: readonly string[] = [];
  const contents = openContentStore(folder.value.dir);
  const made: Session = {
    settings: someSettings(),
    cwd: '/project',
    clock,
    bus,
    folder: folder.value,
    signal: new AbortController().signal,
    workspace: {
      // The built-in fixer's files are created in this folder.
      root: realpathSync(tmpdir()),
      prepare: async () => undefined,
      hasCopy: () => true,
      updateCopy: async () => ({
        cwd: '/copy',
        folder: '/copy',
        toCopyPaths: (text) => text,
        toProjectPaths: (text) => text,
        edited: new Set(),
      }),
      updateCleanCopy: async () => ({
        cwd: '/copy',
        folder: '/copy',
        toCopyPaths: (text) => text,
        toProjectPaths: (text) => text,
        edited: new Set(),
      }),
      listChangedOutsideGit: async () => [],
      createCollectedChange: (id, edits) => ({ ...noChange, change: { id, edits, folders: [] } }),
      collectChanges: async (id) => {
        const state = async (text: string) => ({
          kind: 'file' as const,
          hash: await contents.put(Buffer.from(text)),
          mode: 0o644,
        });
        const edit = { path: 'src/a.ts', before: await state('old\n'), after: await state('new\n') };
        const change = { id, root: '', edits: [edit], folders: [] };
        return { ...noChange, change };
      },
      apply: async (change) => {
        stack.push(change.id);
        inTree = [...stack];
        return { kind: 'applied', change };
      },
      revertTemporarily: async (ids) => {
        moves.push(`without ${ids.join()}`.trim());
        inTree = stack.filter((id) => !ids.includes(id));
        return { written: ['src/a.ts'], leftAlone: [] };
      },
      revert: async (ids) => {
        moves.push(`revert ${ids.join()}`);
        for (const id of ids) if (stack.includes(id)) stack.splice(stack.indexOf(id), 1);
        inTree = [...stack];
        return { written: ['src/a.ts'], leftAlone: [], lost: [] };
      },
      listApplied: () => inTree,
      listEditedFiles: () => new Set(),
      markDecided: async () => undefined,
      close: async () => undefined,
    },
    observations: new Observations({ listApplied: () => inTree }),
    testFiles: unedited,
    redactor: createRedactorForValues([]),
    hooks: {},
    isTest: () => false,
    runAgent: async ({ agent }) => {
      agents.push(agent.name);
      return completedRun;
    },
    spending: createSpending(0),
    store: noStore,
    suite: {
      playwright: { version: '1.57.0' },
      plan: createRunPlan(),
      runInCleanCopy: async () => 'there is none',
      prepare: async () => null,
      rerun: async () => {
        const wrong = reruns[rerun++] ?? null;
        return aSuiteRun({
          tests: [aResult('t1', wrong === null ? 'expected' : 'unexpected')],
          exitCode: rerun,
        });
      },
      ...suite,
    },
    diagnostics: {
      writeFailure: (failure) =>
        writeFailure({ folder: folder.value, redactor: createRedactorForValues([]) }, failure),
      unpackTrace: async () => undefined,
      diagnose: async (run: SuiteRun): Promise<DiagnosedFailure[]> => {
        const wrong = reruns[rerun - 1] ?? null;
        return run.tests.length > 0 && wrong !== null ? [failing('t1', wrong)] : [];
      },
      ...diagnostics,
    },
    ...over,
  };
  return { session: made, events, agents, clock, moves };
}

/** Test files without any edits. */
export const unedited: Session['testFiles'] = {
  observe: () => undefined,
  listEditsToTest: () => [],
  createChange: async () => ({ id: '1', edits: [], folders: [] }),
};

/** Heals a single cause, and returns the finished work on it. */
export async function healAlone(session: Session, cause: Cause, over: Partial<CauseWork> = {}) {
  const { observations, settings } = session;
  const red = cause.members.map((failure): [string, Observation] => [
    failureKey(failure.failure),
    { ended: 'failed', failure, suiteFailure: null },
  ]);
  for (let run = 0; run <= settings.verify.confirm; run += 1) observations.add(new Map(red));
  const progress = createProgress(session, aSuiteRun());
  const schedule = new Schedule(progress, { agents: 1 });
  const work: CauseWork = { ...(await createWork(progress, cause)), ...over };
  await schedule.run(work, () => healCause(schedule, work));
  if (schedule.failure) throw schedule.failure.error;
  return { ...work, end: work.end ?? { verdict: null, reason: 'the work goes on' } };
}
