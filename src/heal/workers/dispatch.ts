import path from 'node:path';
import { isBuiltIn } from '../../core/built-in-fixer.js';
import type { Cause } from '../../core/cause.js';
import { failureKey } from '../../core/failure.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import type { Queue } from '../../queue/open-queue.js';
import { pack } from '../../queue/packed.js';
import { type Patience, patiently } from '../../queue/patient.js';
import { jobId } from '../../queue/queue-name.js';
import { sendEdits } from '../../queue/sent-edits.js';
import type { WorkerTable } from '../../queue/worker-table.js';
import { type Contents, contentsOf, safePath } from '../../workspace/change.js';
import type { Opened } from '../open-run.js';
import type { Session } from '../session.js';
import { causeJob } from './cause-job.js';
import type { HealedHere } from './healed-here.js';
import { failed, Lookout } from './lookout.js';
import type { FromWorkers, SentCause, Workers } from './workers.js';
import { reasonOf } from '../../reason-of.js';
import { gitBytes, gitDiff } from '../../git.js';
import { contentOf, type FileEdit, type FileState, hashOf, stateOf } from '../../workspace/file-state.js';
import type { Workspace } from '../../workspace/workspace.js';

/** What a coordinator needs. */
export interface DispatchParts {
  readonly opened: Opened;
  readonly first: SuiteRun;
  readonly here: HealedHere;
  readonly queue: Queue;
  readonly table: WorkerTable;
  /** The coordinator's id in its row. */
  readonly who: string;
  /** Waits for the store while it cannot be reached. */
  readonly patience: Patience;
}

/** Creates the coordinator's side of the queue: it sends the causes of a run, and watches them and their workers until it is closed. */
export function createDispatch(parts: DispatchParts): Workers {
  const { opened, queue, table, who, patience } = parts;
  const lookout = new Lookout(parts);
  const sentIds = new Set<string>();
  const names = createNames(queue.name);
  const agentsOnTest = new Map<string, number>();
  return {
    send: async (session, sent) => {
      const { cause } = sent;
      const agentRunsOnTest = Math.max(0, ...keysOf(cause).map((key) => agentsOnTest.get(key) ?? 0));
      const made = await packed(parts, session, { sent, agentRunsOnTest });
      if (typeof made === 'string') return () => Promise.resolve(failed(made));
      const id = jobId(queue.name, names.next(cause));
      sentIds.add(id);
      const failure = await patiently(() => queue.send(id, made), patience).then(() => null, reasonOf);
      if (failure !== null) return () => Promise.resolve(failed(`it could not be sent: ${failure}`));
      opened.bus.emit({ type: 'cause.sent', causeId: cause.id });
      return async () => {
        const came = await lookout.resultOf(id, { session, sent });
        const agents = came.kind === 'tried' ? came.attempts.filter(isAgents).length : 0;
        for (const key of keysOf(cause)) agentsOnTest.set(key, (agentsOnTest.get(key) ?? 0) + agents);
        return came;
      };
    },
    spent: () => lookout.spent,
    close: async (isOver) => {
      await lookout.close();
      const end = async () => {
        if (!isOver) return table.leave(who);
        // Another coordinator may have taken over the jobs.
        if (!(await table.coordinatorBeat(who))) return;
        await queue.remove([...sentIds]);
        await table.over();
      };
      // Anything left behind is harmless: it only names a coordinator until the lease ends.
      await patiently(end, patience).catch(() => undefined);
    },
  };
}

function isAgents({ attempt }: Extract<FromWorkers, { kind: 'tried' }>['attempts'][number]): boolean {
  return attempt.agent !== null && !isBuiltIn(attempt);
}

/** Names a cause by its signature and how often it was sent, so that it has the same name in a run that resumes this one. */
function createNames(queue: string): { next(cause: Cause): string } {
  const owners = new Map<string, string[]>();
  const times = new Map<string, number>();
  return {
    next: ({ id, lead: { signature } }) => {
      const own = owners.get(signature) ?? [];
      if (!own.includes(id)) own.push(id);
      owners.set(signature, own);
      const time = (times.get(id) ?? 0) + 1;
      times.set(id, time);
      return [queue, signature, own.indexOf(id), time].join('\n');
    },
  };
}

/** Packs the job of a cause, or returns in words why it cannot be sent. */
async function packed(
  { first, here, opened }: DispatchParts,
  session: Session,
  { sent, agentRunsOnTest }: { sent: SentCause; agentRunsOnTest: number },
) {
  const contents = contentsOf(session.folder.dir);
  const base = await sendEdits(await keptSoFar(session.workspace, contents), contents, session.redactor);
  if ('secretIn' in base)
    return `${base.secretIn} has uncommitted changes and contains a secret, which is not sent to workers: commit it, or heal without --queue`;
  const { project, commit, selection, root, place } = here;
  const context = {
    first,
    place: { project, commit, playwright: opened.playwright.version, selection: [...selection], root, place },
    base: base.edits,
    agentRunsOnTest,
  };
  return pack(await causeJob(session, sent, context)) ?? 'its evidence is too large to send to a worker';
}

function keysOf({ members }: Cause): string[] {
  return members.map(({ failure }) => failureKey(failure));
}

/**
 * Returns how the project here differs from its commit, so that a worker starts from the same state: kept fixes, and other changes to
 * tracked files. Untracked files, such as downloaded artifacts, stay here.
 */
async function keptSoFar(
  { root, edited }: Pick<Workspace, 'root' | 'edited'>,
  contents: Contents,
): Promise<FileEdit[]> {
  const how = ['--name-only', '--no-renames', '--relative', '-z', 'HEAD'];
  const changed = String(await gitDiff(root, how).catch(() => ''));
  const files = new Set([...changed.split('\0'), ...edited()]);
  const edits: FileEdit[] = [];
  for (const file of files) {
    const now = safePath.safeParse(file).success ? stateOf(root, file) : 'other';
    if (now === 'other') continue;
    if (now) await contents.put(contentOf(path.join(root, file), now.kind));
    const old = await gitBytes(root, ['cat-file', 'blob', `HEAD:${file}`]).catch(() => null);
    if (old) await contents.put(old);
    if (old && now && hashOf(old) === now.hash) continue;
    edits.push({ path: file, before: old && stateOfCommitted(old, now), after: now });
  }
  return edits;
}

/** The only permission git records is whether a file is executable, so the current mode is used. */
function stateOfCommitted(content: Uint8Array, now: FileState | null): FileState {
  return { kind: now?.kind ?? 'file', hash: hashOf(content), mode: now?.mode ?? 0o644 };
}
