import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { healCause } from '../../src/heal-cause.js';
import type { Progress } from '../../src/progress.js';
import { describeRecovery, recoverKilledRuns } from '../../src/recover.js';
import { runRing } from '../../src/ring.js';
import { announceRunning, type Running } from '../../src/running.js';
import { createScoreboard } from '../../src/scoreboard.js';
import { undo } from '../../src/undo.js';
import { openWorkspace, type Workspace } from '../../src/workspace/workspace.js';
import { aCause, anAttempt, aResult, aSuiteRun, failing, someSettings } from '../rig/builders.js';
import { finished, healingSession } from '../rig/healing-session.js';
import { tempDir } from '../rig/temp-dir.js';

/** Ends everything, as SIGKILL does: nothing is done after it. */
class Killed extends Error {}

const tomorrow = new Date(Date.now() + 86_400_000);

interface Place {
  /** May be the last that is done. */
  readonly step: () => void;
  /** Does something that is not interrupted. */
  readonly calmly: <T>(work: () => Promise<T>) => Promise<T>;
  readonly dir: string;
  readonly runDir: string;
  readonly workspace: Workspace;
  readonly running: Running;
  readonly write: (files: Readonly<Record<string, string>>) => void;
  readonly read: () => Record<string, string>;
}

/** A project of two files, whose every move may be the last: before it, in the middle of it, or after it. */
async function place(mayEnd: () => void): Promise<Place> {
  let isCalm = false;
  const step = () => {
    if (!isCalm) mayEnd();
  };
  const dir = tempDir();
  const real = await openWorkspace(dir);
  const { session } = await healingSession([]);
  const runDir = path.join(dir, '.self-heal', 'runs', '20260101-000000-abcd');
  const write: Place['write'] = (files) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(dir, name), text);
  };
  if (!real) throw new Error('There is no git program.');
  write({ 'a.txt': 'old\n', 'b.txt': 'old\n' });
  mkdirSync(runDir, { recursive: true });
  const told = await announceRunning({ dir: runDir });
  const stepped =
    <Args extends unknown[]>(tell: (...args: Args) => Promise<void>) =>
    async (...args: Args) => {
      step();
      await tell(...args);
      step();
    };
  return {
    step,
    calmly: async (work) => {
      isCalm = true;
      const done = await work();
      isCalm = false;
      return done;
    },
    dir,
    runDir,
    write,
    read: () =>
      Object.fromEntries(
        ['a.txt', 'b.txt'].map((name) => [name, readFileSync(path.join(dir, name), 'utf8')]),
      ),
    running: {
      opened: stepped((before) => told.opened(before)),
      changed: stepped((before, after) => told.changed(before, after)),
      moving: stepped((unfinished) => told.moving(unfinished)),
      decided: stepped(() => told.decided()),
      ended: stepped(() => told.ended()),
    },
    workspace: {
      ...session.workspace!,
      ...real,
      takeBack: async (before, after, spare) => {
        step();
        const halfway = { 'b.txt': readFileSync(path.join(dir, 'b.txt'), 'utf8') };
        const back = await real.takeBack(before, after, spare);
        const whole = { 'b.txt': readFileSync(path.join(dir, 'b.txt'), 'utf8') };
        write(halfway);
        step();
        write(whole);
        step();
        return back;
      },
    },
  };
}

/** The next command finds the run as that of a process which is gone. */
async function nextCommand({ dir, runDir }: Place) {
  const file = path.join(runDir, 'running.json');
  if (existsSync(file)) {
    const said = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...said, startedAt: 'another process' }));
  }
  const recovered = await recoverKilledRuns(dir);
  expect(existsSync(file)).toBe(false);
  expect(await recoverKilledRuns(dir)).toEqual([]);
  return recovered.flatMap(describeRecovery).join('\n');
}

/** Does something in a place of its own for each of its steps, and is killed there; gives how many there were. */
async function killedAtEach(
  work: (at: Place) => Promise<void>,
  then: (at: Place, step: number) => Promise<void>,
) {
  for (let steps = 0; ; steps += 1) {
    let left = Number.POSITIVE_INFINITY;
    const at = await place(() => {
      left -= 1;
      if (left < 0) throw new Killed();
    });
    left = steps;
    const killed = await work(at).then(
      () => false,
      (error: unknown) => {
        if (error instanceof Killed) return true;
        throw error;
      },
    );
    if (!killed) return steps;
    await then(at, steps);
  }
}

const old = { 'a.txt': 'old\n', 'b.txt': 'old\n' };
const fixed = { 'a.txt': 'fixed\n', 'b.txt': 'fixed\n' };

it('HN-2 killed at any step of an attempt and its proof: the next command leaves the tree as it was, or as it was proven', async () => {
  const verify = { ...someSettings().verify, repeat: 2, flips: 1 };
  const cause = aCause({ lead: failing('t1', 'boom') });
  const healing = async ({ dir, workspace, running, read, write, step }: Place) => {
    const isRed = () => read()['a.txt'] !== 'fixed\n';
    const { session } = await healingSession([], {
      cwd: dir,
      workspace,
      running,
      settings: someSettings({ verify }),
      runAgent: async () => {
        write({ 'a.txt': 'fixed\n' });
        step();
        write({ 'b.txt': 'fixed\n' });
        step();
        return finished;
      },
      runAgain: async () => {
        step();
        return aSuiteRun({ tests: [aResult('t1', isRed() ? 'unexpected' : 'expected')] });
      },
      diagnose: async () => (isRed() ? [failing('t1', 'boom')] : []),
    });
    const { conclusion } = await healCause(session, cause);
    expect(conclusion.verdict).toBe('healed');
  };
  const said: string[] = [];
  const ends: string[] = [];
  const steps = await killedAtEach(healing, async (at) => {
    const isDecided = !readFileSync(path.join(at.runDir, 'running.json'), 'utf8').includes('"before"');
    at.write({ 'user.txt': 'later\n' });
    utimesSync(path.join(at.dir, 'user.txt'), tomorrow, tomorrow);
    const wasUntouched = at.read()['a.txt'] === 'old\n';
    const told = await nextCommand(at);
    said.push(told);
    const now = JSON.stringify(at.read());
    ends.push(now);
    expect(now).toBe(JSON.stringify(isDecided && !wasUntouched ? fixed : old));
    expect(readFileSync(path.join(at.dir, 'user.txt'), 'utf8')).toBe('later\n');
  });
  expect(steps).toBeGreaterThan(15);
  expect(new Set(ends)).toEqual(new Set([JSON.stringify(old), JSON.stringify(fixed)]));
  expect(said.some((one) => one.includes('was out already, for the proof, and stays out'))).toBe(true);
});

/** Two fixes of a run, one over the other, as its attempts record them. */
async function twoFixes({ workspace, write }: Place) {
  const first = await workspace.checkpoint();
  write({ 'a.txt': 'half\n', 'b.txt': 'half\n' });
  const second = await workspace.checkpoint();
  write(fixed);
  const third = await workspace.checkpoint();
  return [
    anAttempt({ judged: 'changed', takenBack: false, checkpoints: { before: first, after: second } }),
    anAttempt({ judged: 'green', takenBack: false, checkpoints: { before: second, after: third } }),
  ];
}

it.each([
  ['is not to blame, it is put back', true, [fixed]],
  ['is to blame, it is in as a whole or out as a whole', false, [fixed, old]],
])('HN-2 HN-6 killed while the ring has a proven fix out, which %s', async (_, isBlameless, allowed) => {
  const checking = async (at: Place) => {
    const { session } = await healingSession([], {
      cwd: at.dir,
      workspace: at.workspace,
      running: at.running,
      settings: someSettings({ verify: { ...someSettings().verify, ring: 'suite' } }),
      runAgain: async () => {
        at.step();
        const isRed = isBlameless || at.read()['a.txt'] !== 'old\n';
        return aSuiteRun({ tests: [aResult('t1'), aResult('t2', isRed ? 'unexpected' : 'expected')] });
      },
    });
    const board = createScoreboard();
    board.saw(aSuiteRun({ tests: [aResult('t1'), aResult('t2')] }));
    const cause = aCause({ lead: failing('t1') });
    const attempts = await at.calmly(() => twoFixes(at));
    const record = { cause, verdict: 'healed', reason: '', attempts, overBudget: false } as const;
    const progress = { session, board, causes: [record] } as unknown as Progress;
    await runRing(progress, aSuiteRun({ tests: [aResult('t1'), aResult('t2')] }));
  };
  const ends: unknown[] = [];
  const steps = await killedAtEach(checking, async (at) => {
    await nextCommand(at);
    ends.push(at.read());
  });
  expect(steps).toBeGreaterThan(10);
  expect(new Set(ends.map((one) => JSON.stringify(one)))).toEqual(
    new Set(allowed.map((one) => JSON.stringify(one))),
  );
});

it('HN-2 HN-8 killed at any step of undo: the next command finishes it, and finds no edit where there is none', async () => {
  const undoing = async (at: Place) => {
    const kept = await at.calmly(() => twoFixes(at));
    await undo(at.workspace, kept, at.running);
  };
  const said: string[] = [];
  const ends: string[] = [];
  const steps = await killedAtEach(undoing, async (at) => {
    said.push(await nextCommand(at));
    ends.push(JSON.stringify(at.read()));
  });
  expect(steps).toBeGreaterThan(6);
  // Before it has said what it is about to do, nothing has happened.
  expect(ends).toEqual([
    JSON.stringify(fixed),
    ...Array.from({ length: steps - 1 }, () => JSON.stringify(old)),
  ]);
  expect(said.join()).toContain('what was left to undo was undone: ');
  expect(said.join()).not.toContain('left as they are');
});

it('HN-8 undoing twice two fixes of one file finds everything as before already', async () => {
  const at = await place(() => undefined);
  const kept = await twoFixes(at);
  expect(await undo(at.workspace, kept)).toEqual({ restored: ['a.txt', 'b.txt'], leftAlone: [] });
  expect(await undo(at.workspace, kept)).toEqual({ restored: [], leftAlone: [] });
  expect(at.read()).toEqual(old);
});
