import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CauseVerdict } from '../../../src/core/verdict.js';
import type { Event } from '../../../src/event.js';
import { type WorkspaceParts, closed, lateWorkspace } from '../../../src/heal/open-run.js';
import { planRun } from '../../../src/heal/plan-run.js';
import { askedOf, keptFixes, resumedFrom } from '../../../src/heal/resumed.js';
import { typed } from '../../../src/heal/run-request.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { ownerVariables } from '../../../src/process/proc-table.js';
import { eventsFile, readRunState } from '../../../src/run/event-log.js';
import { createRunFolder } from '../../../src/run/run-folder.js';
import { runOf } from '../../../src/run/run-state.js';
import { createRedactor, redactorOf } from '../../../src/secrets/redactor.js';
import { storeChange } from '../../../src/workspace/change.js';
import { aResult, aSuiteRun, aTest, aTestFailure, anAttempt, anEnd, failing } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';
import { recordingBus } from '../../rig/recording-bus.js';
import { aCauseSummary } from '../../rig/shown-run.js';
import { tempDir } from '../../rig/temp-dir.js';

/** What is left of a run with a red test, whose cause ended like this, and a green one, and what is carried over. */
async function leftAfter(ended: Partial<Extract<Event, { type: 'cause.ended' }>>, ...more: Event[]) {
  const { session, events } = await healingSession([]);
  const tests = [aResult('t1', 'unexpected'), aResult('t2')];
  tellSeen(session, { tests, rerunIds: { t1: ['setup', 't1'], t2: ['t2'] } });
  const told: Event[] = [
    ...events,
    { type: 'cause.found', cause: aCauseSummary({ id: 'c1', tests: [aTest('t1')] }) },
    {
      type: 'cause.ended',
      causeId: 'c1',
      verdict: 'failed',
      reason: '',
      attempts: 1,
      costUsd: null,
      ...ended,
    },
    ...more,
  ];
  const run = runOf(told.map((event, time) => ({ time, ...event })));
  const { open, carried } = resumedFrom(run, tempDir());
  return [open?.map(({ id, rerunIds }) => [id, rerunIds]) ?? null, carried.map(({ id }) => id)];
}

const open = [[['t1', ['setup', 't1']]], ['t2']];
const finished = [[], ['t1', 't2']];

it.each<[CauseVerdict, object, unknown]>([
  ['superseded', {}, open],
  ['healed', {}, open],
  ['interrupted', {}, open],
  ['failed', { overBudget: true }, open],
  ['failed', {}, finished],
  ['rejected', {}, finished],
])(
  'ME-8 a red test whose cause ended as %s (%j) is left for resume, or finished',
  async (verdict, over, left) => {
    expect(await leftAfter({ verdict, ...over })).toEqual(left);
  },
);

it('ME-8 everything runs again while the suite’s own failure is open', async () => {
  const counts = { total: 0, passed: 0, failed: 0, flaky: 0, skipped: 0, notRun: 0, durationMs: 1 };
  const broken: Event = { type: 'suite.ended', purpose: 'first', causeId: null, ...counts, broken: true };
  const found: Event = { type: 'cause.found', cause: aCauseSummary({ id: 'c2', tests: [] }) };
  const healed: Event = {
    type: 'cause.ended',
    causeId: 'c2',
    verdict: 'healed',
    reason: '',
    attempts: 1,
    costUsd: null,
  };
  expect(await leftAfter({}, broken, found)).toEqual([null, []]);
  expect(await leftAfter({}, broken, found, healed)).toEqual(finished);
});

it('ME-8 keeps green fixes that are not judged yet, except those of the built-in fixer and those without a stored change', async () => {
  const runDir = path.join(tempDir(), '.self-heal', 'runs', 'r1');
  mkdirSync(runDir, { recursive: true });
  const change = { id: '1', edits: [], folders: [] };
  await storeChange(runDir, change);
  const green = (causeId: string, agent: string, id: string | null) => ({
    type: 'attempt.held',
    causeId,
    attempt: anAttempt({ agent, runner: agent, change: id, end: anEnd('green') }),
  });
  const judged = (causeId: string, kind: 'interrupted' | 'still-failing') => ({
    type: 'attempt.judged',
    causeId,
    attempt: anAttempt({ end: anEnd(kind) }),
  });
  const events = [
    ...['killed', 'interrupted', 'failed', 'free', 'lost', 'unchanged'].map((id) => ({
      type: 'cause.found',
      cause: aCauseSummary({ id, signature: `shop:Error:${id}` }),
    })),
    ...['killed', 'interrupted', 'failed'].map((id) => green(id, 'debugger', '1')),
    green('free', 'built-in', '1'),
    green('lost', 'debugger', '2'),
    green('unchanged', 'debugger', null),
    judged('interrupted', 'interrupted'),
    judged('failed', 'still-failing'),
  ];
  const lines = events.map((event) => `${JSON.stringify({ ...event, time: 1 })}\n`);
  writeFileSync(path.join(runDir, eventsFile), lines.join(''));
  const kept = keptFixes(await readRunState(runDir), runDir);
  expect([...kept.keys()]).toEqual(['shop:Error:killed', 'shop:Error:interrupted']);
  expect(kept.get('shop:Error:killed')).toMatchObject({ agent: 'debugger', change, runDir });
});

/** Opens a run with a folder of its own, in which nothing has happened yet. */
async function anOpenRun() {
  const folder = await createRunFolder(tempDir('project'), `run-${process.hrtime.bigint()}`);
  if (!folder.ok) throw new Error(folder.error.message);
  const running = { ended: async () => {}, hasCopies: async () => {} };
  const { bus, events } = recordingBus();
  const workspace = lateWorkspace({} as WorkspaceParts);
  return { running, bus, events, workspace, folder: folder.value, redactor: redactorOf([]) };
}

it('EV-9 masks secrets of the environment in the problem that ends a run', async () => {
  const env = { DEPLOY_TOKEN: 'plain-looking-words-42' };
  const redactor = await createRedactor({ env, projectRoot: tempDir('closed') });
  const opened = await anOpenRun();
  const problem = await closed(
    { ...opened, redactor },
    {
      kind: 'playwright-refused',
      message: 'Playwright ended before its tests',
      remedy: 'Look at its words.',
      detail: 'Error: Project(s) "plain-looking-words-42" not found',
    },
  );
  expect(problem).toMatchObject({ kind: 'playwright-refused', detail: expect.stringContaining('[masked') });
  expect(opened.events).toMatchObject([
    { type: 'run.stopped', message: 'Playwright ended before its tests' },
  ]);
  expect(JSON.stringify(problem)).not.toContain('plain-looking-words-42');
});

it('EV-9 AG-10 a run that cannot proceed leaves no process, and no file that may hold secrets', async () => {
  const opened = await anOpenRun();
  const output = path.join(opened.folder.dir, 'suites', '1', 'output');
  mkdirSync(output, { recursive: true });
  writeFileSync(path.join(output, 't1-0.json'), '{"network":[]}');
  const env = { ...process.env, ...ownerVariables(opened.folder) };
  const child = spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  await closed(opened, { kind: 'no-tests', message: 'no test matches', remedy: 'Check the filters.' });
  expect(existsSync(output)).toBe(false);
  expect(await exited).toEqual([null, 'SIGTERM']);
});

it('CL-7 HL-7 a dry run shows no prompt for a cause that would get no agent, and says why', async () => {
  const passed = failing('t1', 'Expected to fail, but passed.');
  const failure = aTestFailure({ ...passed.failure, scope: 'test', status: 'passed' });
  const run = aSuiteRun({ tests: [aResult('t1', 'unexpected')] });
  const given = { diagnose: async () => [{ ...passed, failure }], runAgain: async () => run };
  const { session, events } = await healingSession([], given);
  const shown: unknown[] = [];
  await planRun(session, run, (plan) => shown.push(plan));
  expect(shown).toEqual([]);
  expect(events).toContainEqual({
    type: 'run.warning',
    message: expect.stringMatching(/^c1 would get no agent: .*test\.fail/),
  });
});

it('FL-5 ME-8 a search for flakes is continued as one, and measures its whole selection again', async () => {
  const asked = {
    cwd: tempDir(),
    env: {},
    filters: ['a.spec.ts'],
    passThrough: [],
    options: { flaky: true },
  };
  const seen: Event = {
    type: 'tests.seen',
    tests: [{ ...aTest('t1'), title: [], file: '', line: 1, verdict: 'passed', durationMs: 1 }],
  };
  for (const flaky of [{ flaky: true }, {}] as const) {
    const request = JSON.parse(JSON.stringify(typed({ ...asked, ...flaky }))) as ReturnType<typeof typed>;
    const stored = await askedOf({ runId: '20260101-000000-0000', request }, asked.cwd);
    expect(stored).toEqual({
      ok: true,
      value: { filters: ['a.spec.ts'], passThrough: [], options: { flaky: true }, ...flaky },
    });
    const { open } = resumedFrom(runOf([{ time: 1, ...seen }]), asked.cwd, flaky.flaky);
    expect(open).toEqual(flaky.flaky ? null : []);
  }
});
