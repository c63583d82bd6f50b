import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sweep } from './process/end-processes.js';
import { forgetKilled, killedRuns, type KilledRun, type OpenTransaction } from './running.js';
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
  return recovered.filter(({ processes, restored, leftAlone }) =>
    [processes, restored, leftAlone].some((some) => some.length > 0),
  );
}

/** What happened, for the person who typed the next command. */
export function describeRecovery({ runId, processes, restored, leftAlone, patch }: Recovery): string[] {
  return [
    `run ${runId} was killed at work`,
    ...(restored.length > 0
      ? [`  what an agent had changed and nobody had proven was taken back: ${restored.join(', ')}`]
      : []),
    ...(patch === null ? [] : [`  it is kept as ${patch}`]),
    ...(leftAlone.length > 0
      ? [`  left as they are, because they changed since: ${leftAlone.join(', ')}`]
      : []),
    ...processes.map((one) => `  ended a process that it had left behind: ${one}`),
  ];
}

async function recover(projectRoot: string, run: KilledRun): Promise<Recovery> {
  const processes = await sweep({ name: 'SELF_HEAL_RUN_ID', value: run.runId });
  const workspace = run.transaction && (await openWorkspace(projectRoot));
  const back = workspace && run.transaction ? await rollBack(workspace, run, run.transaction) : nothing;
  await forgetKilled(run);
  return { runId: run.runId, processes, ...back };
}

const nothing = { restored: [], leftAlone: [], patch: null };

async function rollBack(workspace: Workspace, run: KilledRun, { before, after }: OpenTransaction) {
  const now = after ?? (await workspace.checkpoint());
  const spare = after === null ? await editedSince(workspace, run, { before, now }) : [];
  const bytes = await workspace.patch(before, now);
  const back = await workspace.takeBack(before, now, spare);
  if (back.restored.length === 0) return { ...back, patch: null };
  const patch = path.join(run.dir, 'recovered.patch');
  await writeFile(patch, bytes);
  return { ...back, patch };
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
