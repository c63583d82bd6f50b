import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Attempt } from '../../../../src/core/attempt.js';
import { noEarlierTries } from '../../../../src/core/remembered.js';
import { healCause } from '../../../../src/heal/heal-cause.js';
import type { Session } from '../../../../src/heal/session.js';
import { tryByWorker } from '../../../../src/heal/workers/try-by-worker.js';
import type { FromWorkers, SentCause, Workers } from '../../../../src/heal/workers/workers.js';
import { sendEdits } from '../../../../src/queue/sent-edits.js';
import { noStore } from '../../../../src/run/run-store.js';
import { redactorOf } from '../../../../src/secrets/redactor.js';
import type { Change } from '../../../../src/workspace/change.js';
import { contentsOf } from '../../../../src/workspace/change.js';
import { stateOf } from '../../../../src/workspace/file-state.js';
import { aCause, anAttempt, failing } from '../../../rig/builders.js';
import { healingSession } from '../../../rig/healing-session.js';
import { tempDir } from '../../../rig/temp-dir.js';

type Tried = Extract<FromWorkers, { kind: 'tried' }>;

/** A checkout with one file. */
async function checkout(text: string): Promise<string> {
  const root = tempDir('checkout');
  await mkdir(path.join(root, 'src'));
  await writeFile(path.join(root, 'src/a.ts'), text);
  return root;
}

/** The edits that a worker sends after it has changed `old` to `new` in its checkout. */
async function editsOfWorker() {
  const root = await checkout('one\nold\n');
  const contents = contentsOf(tempDir('worker'));
  const file = path.join(root, 'src/a.ts');
  const kept = async () => {
    await contents.put(await readFile(file));
    const state = stateOf(root, 'src/a.ts');
    return state === 'other' ? null : state;
  };
  const before = await kept();
  await writeFile(file, 'one\nnew\n');
  const sent = await sendEdits([{ path: 'src/a.ts', before, after: await kept() }], contents, redactorOf([]));
  return 'edits' in sent ? sent.edits : [];
}

const green: Attempt = anAttempt({
  judged: 'green',
  reverted: false,
  failedBecause: null,
  proof: ['red', 'green'],
  change: '7',
  usage: { costUsd: 0.25, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
});

async function tried(over: Partial<Tried> = {}): Promise<Tried> {
  return {
    kind: 'tried',
    worker: 'host-1',
    attempts: [{ attempt: green, patch: '--- a\n+++ b\n' }],
    attemptId: 'stored-7',
    edits: await editsOfWorker(),
    end: { verdict: 'healed', reason: 'the test is green' },
    ...over,
  };
}

/** The coordinator's side: its checkout contains `here`, its re-runs show `reruns`, and a worker sends `came`. */
async function coordinator(here: string, came: FromWorkers, reruns: readonly (string | null)[] = [null]) {
  const sent: SentCause[] = [];
  const applied: Change[] = [];
  const finished: { id: string | null; judged: Attempt['judged'] }[] = [];
  const workers: Workers = {
    send: async (_session, cause) => {
      sent.push({ ...cause, previous: [...cause.previous] });
      return async () => came;
    },
    spent: () => ({ agentRuns: 0, costUsd: null }),
    close: async () => undefined,
  };
  const given = await healingSession(reruns);
  const root = await checkout(here);
  const session: Session = {
    ...given.session,
    workers,
    cwd: root,
    workspace: {
      ...given.session.workspace,
      root,
      apply: async (change) => {
        applied.push(change);
        return { kind: 'applied', change };
      },
    },
    store: {
      ...noStore,
      attemptFinished: async (id, { judged }) => void finished.push({ id, judged }),
    },
  };
  return { ...given, session, sent, applied, finished };
}

const known = { tries: noEarlierTries, tried: [], fix: null, guidance: null, open: null };

function aTry(session: Session) {
  const work = {
    n: 1,
    previous: [],
    known,
    earlier: new Set<string>(),
    beside: () => [],
    mayGoOn: () => true,
  };
  return session.tree.runExclusive(() => tryByWorker(session, aCause(), work));
}

it('SC-2 applies, re-runs and judges a patch that fits here, and leaves it open until its proof', async () => {
  const { session, applied, finished, events } = await coordinator('one\nold\n', await tried());
  const turn = await aTry(session);
  expect(turn).toMatchObject({ attempts: [{ judged: 'green', reverted: false }], id: 'stored-7' });
  const [change] = applied;
  expect(change?.edits.map((edit) => edit.path)).toEqual(['src/a.ts']);
  const after = change?.edits[0]?.after;
  const contents = contentsOf(session.folder.dir);
  expect(String(after && (await contents.get(after.hash)))).toBe('one\nnew\n');
  const [attempt] = turn.attempts;
  expect(attempt).toMatchObject({ change: change?.id, proof: [] });
  expect(await readFile(path.join(session.folder.dir, attempt?.patch ?? ''), 'utf8')).toContain('+new');
  expect(finished).toEqual([]);
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['agent.ended', 'attempt.green']));
});

it('SC-2 applies only what the worker changed, and keeps what others have changed here', async () => {
  const { session, applied } = await coordinator('one\nold\n', await tried());
  await writeFile(path.join(session.workspace.root, 'src/b.ts'), 'of another fix');
  await aTry(session);
  expect(applied.flatMap(({ edits }) => edits.map((edit) => edit.path))).toEqual(['src/a.ts']);
});

it('SC-2 reports a patch that does not fit here as a conflict, applies nothing, ends its attempt, and names the file', async () => {
  const { session, applied, finished } = await coordinator('something else\n', await tried());
  const turn = await aTry(session);
  expect(turn).toMatchObject({ attempts: [{ judged: 'conflict', reverted: false }], retest: null, id: null });
  expect(turn.attempts[0]?.failedBecause).toContain('src/a.ts');
  expect('end' in turn).toBe(false);
  expect(applied).toEqual([]);
  expect(finished).toEqual([{ id: 'stored-7', judged: 'conflict' }]);
});

it('SC-2 reverts a patch that is green on the worker and red here, and sends its cause again with what was tried', async () => {
  const came = await tried();
  const { session, sent, moves } = await coordinator('one\nold\n', came, ['boom', null]);
  const cause = aCause({ lead: failing('t1', 'boom') });
  const { attempts } = await session.tree.runExclusive(() => healCause(session, cause));
  expect(attempts.map(({ judged, reverted }) => ({ judged, reverted }))).toEqual([
    { judged: 'still-failing', reverted: true },
    { judged: 'green', reverted: false },
  ]);
  expect(moves.filter((move) => move.startsWith('revert'))).toHaveLength(1);
  expect(sent.map(({ previous }) => previous.length)).toEqual([0, 1]);
});

it('SC-2 keeps attempts that failed on the worker with their patches, before the one that is joined', async () => {
  const failed = anAttempt({ n: 1, judged: 'still-failing' });
  const second = { ...green, n: 2 };
  const came = await tried({
    attempts: [
      { attempt: failed, patch: 'first try' },
      { attempt: second, patch: null },
    ],
  });
  const { session, events } = await coordinator('one\nold\n', came);
  const { attempts } = await aTry(session);
  expect(attempts.map(({ n, judged }) => [n, judged])).toEqual([
    [1, 'still-failing'],
    [2, 'green'],
  ]);
  expect(await readFile(path.join(session.folder.dir, attempts[0]?.patch ?? ''), 'utf8')).toBe('first try');
  const judged = events.flatMap((event) => (event.type === 'attempt.judged' ? [event.attempt.n] : []));
  expect(judged).toEqual([1]);
});

it('SC-2 ME-6 asks the question of a worker here', async () => {
  const asks = anAttempt({ claim: { status: 'needs-person', summary: 'Which price is right?' } });
  const came = await tried({
    attempts: [{ attempt: asks, patch: null }],
    edits: null,
    attemptId: null,
    end: { verdict: 'escalated', reason: 'Which price is right?' },
  });
  const { session, events } = await coordinator('one\nold\n', came);
  expect(await aTry(session)).toEqual({ attempts: [expect.anything()], retest: null, id: null });
  const { end } = await session.tree.runExclusive(() => healCause(session, aCause()));
  expect(end.verdict).toBe('escalated');
  expect(events.some(({ type }) => type === 'agent.waiting_for_input')).toBe(true);
});

it('SC-2 ends a cause with the given reason if no worker could heal it', async () => {
  const end = {
    verdict: 'failed',
    reason: 'worker host-1 could not heal it: it is green there',
  } as const;
  const { session, events } = await coordinator('one\nold\n', { kind: 'ended', end });
  expect(await aTry(session)).toEqual({ attempts: [], end });
  expect(events).toEqual([]);
});

it('SC-2 does not count a cause as healed if the worker sends no patch', async () => {
  for (const nothing of [{ edits: null }, { attempts: [] }]) {
    const { session, applied } = await coordinator('one\nold\n', await tried(nothing));
    const turn = await aTry(session);
    expect(turn).toMatchObject({ end: { verdict: 'failed' } });
    expect(applied).toEqual([]);
  }
});
