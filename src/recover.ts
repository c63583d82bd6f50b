import { rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sweep } from './process/end-processes.js';
import { makeMoves } from './make-moves.js';
import {
  forgetKilled,
  killedRuns,
  type KilledRun,
  type OpenTransaction,
  type Unfinished,
} from './running.js';
import { openWorkspace, type Workspace } from './workspace/workspace.js';

/** What was put in order after a run that was killed. */
export interface Recovery {
  readonly runId: string;
  /** `pid command` of what it had left behind. */
  readonly processes: readonly string[];
  readonly restored: readonly string[];
  /** Files that somebody has changed since. */
  readonly leftAlone: readonly string[];
  /** Absolute path of the patch of what was taken back, or null. */
  readonly patch: string | null;
  /** Of a run that was killed while proven changes were moved: why they were. */
  readonly finished: Unfinished['why'] | null;
}

/** File systems keep times more coarsely than clocks do. */
const SLACK_MS = 1500;

/**
 * Puts in order what killed runs of a project left: ends their processes, and takes back the change that they had not decided, apart
 * from files that were edited after the kill (HN-2, AG-10). Nothing to do is the usual case, and costs one look into a folder.
 */
export async function recoverKilledRuns(projectRoot: string): Promise<Recovery[]> {
  const recovered: Recovery[] = [];
  for (const run of await killedRuns(projectRoot)) recovered.push(await recover(projectRoot, run));
  return recovered.filter(
    ({ processes, restored, leftAlone, patch }) =>
      patch !== null || [processes, restored, leftAlone].some((some) => some.length > 0),
  );
}

/** What happened, for the person who typed the next command. */
export function describeRecovery(recovery: Recovery): string[] {
  const { runId, processes, restored, leftAlone, patch, finished } = recovery;
  const [did, outAlready] = words[finished ?? 'attempt'];
  return [
    finished === 'undo' ? `undoing run ${runId} was killed at work` : `run ${runId} was killed at work`,
    ...(restored.length > 0 ? [`  ${did}: ${restored.join(', ')}`] : []),
    ...(restored.length === 0 && patch !== null ? [`  ${outAlready}`] : []),
    ...(patch === null ? [] : [`  it is kept as ${patch}`]),
    ...(leftAlone.length > 0
      ? [`  left as they are, because they changed since: ${leftAlone.join(', ')}`]
      : []),
    ...processes.map((one) => `  ended a process that it had left behind: ${one}`),
  ];
}

/** What was done with the files; and what is said where they were as they should be already. */
const words = {
  attempt: [
    'what an agent had changed and nobody had proven was taken back',
    'what its agent had changed was out already, for the proof, and stays out',
  ],
  ring: ['a proven change that was out for a check was put back', ''],
  undo: ['what was left to undo was undone', ''],
} as const;

async function recover(projectRoot: string, run: KilledRun): Promise<Recovery> {
  const processes = await sweep({ runId: run.runId });
  const isMidway = run.transaction !== null || run.unfinished !== null;
  const workspace = isMidway ? await openWorkspace(projectRoot) : null;
  const back = workspace ? await putInOrder(workspace, run) : nothing;
  await forgetKilled(run);
  return { runId: run.runId, processes, finished: run.unfinished?.why ?? null, ...back };
}

const nothing = { restored: [], leftAlone: [], patch: null };

async function putInOrder(workspace: Workspace, run: KilledRun) {
  if (run.transaction) return rollBack(workspace, run, run.transaction);
  return { ...(await makeMoves(workspace, run.unfinished?.moves ?? [])), patch: null };
}

async function rollBack(workspace: Workspace, run: KilledRun, { before, after }: OpenTransaction) {
  const now = after ?? (await workspace.checkpoint());
  const spare = after === null ? await editedSince(workspace, run, { before, now }) : [];
  const bytes = await workspace.patch(before, now);
  if (bytes.length === 0) return nothing;
  // Before it is taken back: who is killed here, too, has it still. The first one holds the whole.
  const patch = path.join(run.dir, 'recovered.patch');
  await writeFile(patch, bytes, { flag: 'wx' }).catch(() => undefined);
  const back = await workspace.takeBack(before, now, spare);
  // Left alone, all of it is in the tree still.
  const isAllLeft = back.restored.length === 0 && back.leftAlone.length > 0;
  if (isAllLeft) await rm(patch, { force: true });
  return { ...back, patch: isAllLeft ? null : patch };
}

/** Killed while its agent worked, a run cannot say what the agent changed: what was written after its last sign of life was somebody else. */
async function editedSince(
  workspace: Workspace,
  { aliveAt }: KilledRun,
  { before, now }: { before: string; now: string },
): Promise<string[]> {
  const changed = await workspace.changes(before, now);
  const times = await Promise.all(
    changed.map(
      async ({ path: file }) => (await stat(path.join(workspace.root, file)).catch(() => null))?.mtimeMs ?? 0,
    ),
  );
  return changed.filter((_, index) => (times[index] ?? 0) > aliveAt + SLACK_MS).map((one) => one.path);
}
