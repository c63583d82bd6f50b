import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Attempt } from '../../core/attempt.js';
import type { Cause } from '../../core/cause.js';
import type { CauseEnd } from '../../core/policy.js';
import { receiveEdits } from '../../queue/sent-edits.js';
import type { SentAttempt } from '../../queue/messages.js';
import { contentsOf } from '../../workspace/change.js';
import { deployEdits } from '../attempt/deploy.js';
import { type Try, tryFix } from '../attempt/try-fix.js';
import { attemptTried } from '../attempt/attempt-decided.js';
import type { Retest } from '../retest.js';
import type { Session } from '../session.js';
import { withoutTree } from '../tree-lock.js';
import type { FromWorkers, SentCause } from './workers.js';

/** What a worker should try. */
type WorkerTry = Omit<Try, 'agent'> & Pick<SentCause, 'mayGoOn'>;

/** The result: attempts, the last of which has been judged here too, or the end of the cause. */
export type TriedByWorker =
  | { readonly attempts: readonly Attempt[]; readonly retest: Retest | null; readonly id: string | null }
  | { readonly attempts: readonly Attempt[]; readonly end: CauseEnd };

/**
 * Has a cause healed on another machine (SC-2) and joins the patch that comes back: it is guarded, applied, re-run and judged in this
 * checkout like that of a local agent. A patch that cannot be joined is a failed attempt, and the policy decides whether to send the
 * cause again.
 */
export async function tryByWorker(session: Session, cause: Cause, work: WorkerTry): Promise<TriedByWorker> {
  const { workers } = session;
  if (!workers) throw new Error('There are no workers');
  const { previous, known, mayGoOn } = work;
  const result = await workers.send(session, { cause, previous, known, mayGoOn });
  const got = await withoutTree(session, result);
  if (got.kind === 'ended') return { attempts: [], end: got.end };
  const isOpen = got.edits !== null;
  const made = await Promise.all(got.attempts.map((one) => keptHere(session, one)));
  const done = isOpen ? made.slice(0, -1) : made;
  for (const attempt of made) told(session, cause, attempt);
  for (const attempt of done) session.bus.emit({ type: 'attempt.judged', causeId: cause.id, attempt });
  const last = made.at(-1);
  if (isOpen && last) {
    const joined = await join(session, cause, { work, got, attempt: last, done });
    return { ...joined, attempts: [...done, ...joined.attempts] };
  }
  const { verdict, reason } = got.end;
  // Questions to a person are asked from here.
  if (verdict === 'escalated') return { attempts: done, retest: null, id: null };
  // Only a fix that is joined here heals.
  if (verdict === 'healed' || verdict === 'superseded')
    return {
      attempts: done,
      end: { verdict: 'failed', reason: `worker ${got.worker} sent no patch: ${reason}` },
    };
  return { attempts: done, end: { verdict, reason } };
}

/** Stores an attempt from another machine, with its patch in this run's folder. */
async function keptHere(session: Session, { attempt, patch }: SentAttempt): Promise<Attempt> {
  const file = await session.folder.attempt(session.spending.nextAttempt());
  if (patch !== null) await writeFile(`${file}.patch`, session.redactor.text(patch));
  const kept = `attempts/${path.basename(file)}.patch`;
  return { ...attempt, patch: patch === null ? null : kept, prompt: null, change: null };
}

function told({ bus }: Session, { id: causeId }: Cause, attempt: Attempt): void {
  if (attempt.agent === null) return;
  bus.emit({
    type: 'agent.ended',
    causeId,
    attempt: attempt.n,
    outcome: attempt.outcome,
    durationMs: attempt.durationMs,
    costUsd: attempt.usage?.costUsd ?? null,
    agentError: null,
    filesChanged: attempt.files.length,
    orphans: [],
  });
}

interface Joining {
  readonly work: WorkerTry;
  readonly got: Extract<FromWorkers, { kind: 'tried' }>;
  readonly attempt: Attempt;
  readonly done: readonly Attempt[];
}

async function join(
  session: Session,
  cause: Cause,
  { work, got, attempt: made, done }: Joining,
): Promise<{ attempts: Attempt[]; retest: Retest | null; id: string | null }> {
  const { workspace, folder } = session;
  const open = { ...made, judged: 'not-judged', reverted: false, failedBecause: null, proof: [] } as const;
  const received = await receiveEdits(got.edits ?? [], workspace.root, contentsOf(folder.dir));
  if ('strange' in received) {
    const failedBecause = `its patch does not apply to the files here: ${received.strange}`;
    const attempt: Attempt = { ...open, judged: 'conflict', failedBecause };
    await attemptTried(session, { causeId: cause.id, id: got.attemptId, attempt });
    return { attempts: [attempt], retest: null, id: null };
  }
  const { testProofs: _, ...rest } = open;
  const tried = await tryFix(session, cause, {
    ...work,
    agent: open.agent,
    n: open.n,
    previous: [...work.previous, ...done],
    deployed: await deployEdits(session, rest, received.edits),
  });
  const { attempt } = tried;
  await attemptTried(session, { causeId: cause.id, id: got.attemptId, attempt });
  return { attempts: [attempt], retest: tried.retest, id: got.attemptId };
}
