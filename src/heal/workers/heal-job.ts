import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isKept } from '../../core/attempt.js';
import type { Cause } from '../../core/cause.js';
import { failureKey } from '../../core/failure.js';
import { writeFileAtomic } from '../../write-file-atomic.js';
import { collectedFile } from '../../shards/collected.js';
import { readShard, type ShardRun } from '../../shards/read-shard.js';
import type { CauseJob, JobResult } from '../../queue/messages.js';
import { receiveEdits, sendEdits } from '../../queue/sent-edits.js';
import { changesFolder, contentsOf, readChange } from '../../workspace/change.js';
import { applyResult } from '../apply-result.js';
import { confirm } from '../confirm.js';
import { healCause, type HealedCause } from '../heal-cause.js';
import { type CauseRecord, changesOf, goesOn, newProgress, type Progress, sawRed } from '../progress.js';
import { proveFixes } from '../prove.js';
import type { Session } from '../session.js';
import { summarise } from '../summarise.js';
import { tellSeen } from '../tell-tests.js';
import { sentAttempt } from './cause-job.js';
import type { JobStore } from './job-store.js';
import { relativePath } from '../../relative-path.js';

/** A session that heals one cause of another machine's run. */
interface JobSession extends Session {
  readonly store: JobStore;
}

/** A job's result without the worker's name. */
export type Came = JobResult extends infer Kind
  ? Kind extends unknown
    ? Omit<Kind, 'worker'>
    : never
  : never;

/** Unpacks a job into a folder in the format of a shard and reads it as one: with this machine's paths, and as untrusted input. */
export async function readJob(
  job: CauseJob,
  folder: string,
  here: { readonly cwd: string; readonly root: string },
): Promise<ShardRun | { readonly refused: string }> {
  const { collected } = job;
  for (const { record, picture } of job.failures) {
    const dir = path.join(folder, 'failures', String(Number(record['n'])));
    await mkdir(dir, { recursive: true });
    await writeFile(path.join(dir, 'failure.json'), JSON.stringify(record));
    if (picture) await writeFile(path.join(dir, picture.name), Buffer.from(picture.bytes, 'base64'));
  }
  await writeFileAtomic(path.join(folder, collectedFile), JSON.stringify(collected));
  const found = { name: job.causeId, shard: collected.shard, kind: 'collected', folder, collected } as const;
  const read = await readShard(found, here);
  return read.ok ? read.value : { refused: `${read.error.message}: ${read.error.detail ?? ''}` };
}

/**
 * Heals the cause of a job in this checkout, proves the fix here (HN-5), and then reverts everything: the patch is what is sent back.
 * A kill at any time leaves the checkout unchanged, since nothing is ever decided here.
 */
export async function healJob(opened: JobSession, job: CauseJob, run: ShardRun['run']): Promise<Came> {
  const workspace = { ...opened.workspace, decided: async () => undefined };
  const verify = { ...opened.settings.verify, ...job.verify, regression: 'none' as const };
  const limits = { ...opened.settings.limits, ...job.limits, parallel: 1 };
  const session: JobSession = { ...opened, workspace, settings: { ...opened.settings, verify, limits } };
  const base = await applyBase(session, job);
  if (base.refused !== null) return { kind: 'refused', reason: base.refused };
  const progress = newProgress(session, run);
  try {
    const cause = await confirmedHere(progress, job, run);
    if ('reason' in cause) return { kind: 'refused', reason: cause.reason };
    return await came(session, await proven(progress, cause, { job, run }), job);
  } finally {
    const changes = progress.causes.flatMap(changesOf);
    await session.tree.runExclusive(() => workspace.revert([...changes, ...base.ids]));
    // There is nothing to undo here.
    await rm(changesFolder(session.folder.dir), { recursive: true, force: true });
  }
}

/** Applies the coordinator's kept fixes and other changes. */
async function applyBase(
  { workspace, folder, cwd, spending }: Session,
  { base }: CauseJob,
): Promise<{ refused: string | null; ids: string[] }> {
  if (base.length === 0) return { refused: null, ids: [] };
  const received = await receiveEdits(base, workspace.root, contentsOf(folder.dir));
  if ('strange' in received) return { refused: `${received.strange} is different in its checkout`, ids: [] };
  const root = relativePath(cwd, workspace.root);
  const id = String(spending.nextAttempt());
  const applied = await workspace.apply({ id, root, edits: received.edits, folders: [] });
  if (applied.kind === 'applied') return { refused: null, ids: [id] };
  const why = applied.kind === 'conflict' ? applied.files.join(', ') : applied.reason;
  return { refused: `the earlier fixes could not be applied: ${why}`, ids: [] };
}

/** Returns the cause as it shows in this checkout, that is, the part of it that is red here too. */
async function confirmedHere(
  progress: Progress,
  job: CauseJob,
  run: ShardRun['run'],
): Promise<Cause | { reason: string }> {
  const { session } = progress;
  tellSeen(session, run);
  const failures = await session.diagnose(run);
  const leadKey = failures[0] && failureKey(failures[0].failure);
  const { confirmed, blockedBy } = await confirm(progress, failures);
  if (session.signal.aborted) return { reason: 'it was interrupted' };
  if (blockedBy) return { reason: 'the suite does not start in its checkout' };
  const lead = confirmed.find(({ failure }) => failureKey(failure) === leadKey) ?? confirmed[0];
  if (!lead) return { reason: 'its tests are green in its checkout without a change' };
  for (const one of confirmed) sawRed(progress, one);
  const blame = job.blame ? { blame: job.blame } : {};
  const cause: Cause = {
    id: job.causeId,
    lead,
    members: confirmed,
    parent: null,
    environment: null,
    ...blame,
  };
  session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
  return cause;
}

/** Heals until a fix is proven or the policy ends it. */
async function proven(
  progress: Progress,
  cause: Cause,
  { job, run }: { job: CauseJob; run: ShardRun['run'] },
): Promise<CauseRecord> {
  const { session } = progress;
  let from: HealedCause = await beforeIt(session, cause, job);
  for (;;) {
    const healed = await session.tree.runExclusive(() =>
      healCause(session, from.cause, { from, mayGoOn: () => goesOn(progress) }),
    );
    await applyResult(progress, healed);
    const { again } = await proveFixes(progress, run);
    const [next] = again;
    const record = progress.causes[0];
    if (next && goesOn(progress)) from = next;
    else if (record) return record;
  }
}

/** Restores what was tried on other machines, with the patches in this run's folder, where prompts look for them. */
async function beforeIt(session: Session, cause: Cause, job: CauseJob): Promise<HealedCause> {
  const { folder, redactor } = session;
  const attempts = await Promise.all(
    job.previous.map(async ({ attempt, patch }, at) => {
      const file = path.join(folder.dir, 'previous', `${at + 1}.patch`);
      if (patch === null) return { ...attempt, patch: null };
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, redactor.text(patch));
      return { ...attempt, patch: `previous/${at + 1}.patch` };
    }),
  );
  const { tries, tried, fix, guidance } = job;
  return {
    cause,
    attempts,
    end: { verdict: 'interrupted', reason: 'sent to a worker' },
    lastRetest: null,
    known: { tries, tried, fix, guidance, open: null },
    attemptId: null,
    copy: session.copy,
  };
}

/** Returns what is sent back: the attempts made here, and the exact edits of the one that holds. */
async function came(session: JobSession, record: CauseRecord, job: CauseJob): Promise<Came> {
  const { folder, redactor } = session;
  const made = record.attempts.slice(job.previous.length);
  const last = made.at(-1);
  const change =
    last && isKept(last) && last.change !== null ? await readChange(folder.dir, last.change) : null;
  const sent = change && (await sendEdits(change.edits, contentsOf(folder.dir), redactor));
  if (sent && 'secretIn' in sent)
    return { kind: 'refused', reason: `its fix changes lines of ${sent.secretIn} that contain a secret` };
  const attempts = await Promise.all(made.map((one) => sentAttempt(folder.dir, redactor.deep(one))));
  return {
    kind: 'tried',
    attempts,
    attemptId: sent ? session.store.openAttempt() : null,
    edits: sent?.edits ?? null,
    end: { verdict: endOf(record), reason: record.reason },
  };
}

function endOf({ verdict, overBudget }: CauseRecord) {
  if (overBudget) return 'budget';
  const isKnown = verdict !== 'green-once' && verdict !== 'passed' && verdict !== 'quarantined';
  return isKnown && verdict !== 'not-run' ? verdict : 'healed';
}
