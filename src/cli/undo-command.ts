import path from 'node:path';
import { Command } from 'commander';
import { findRun, runIdOf, runIdsIn } from '../inspect/find-run.js';
import { exitCodes, type Problem } from '../problem.js';
import { announceRunning, pidAtWork } from '../running.js';
import { keptChanges, undo } from '../undo.js';
import { openWorkspace, type TakenBack } from '../workspace/workspace.js';
import { end } from './end.js';
import { addWaitFlag } from './options.js';
import { recover } from './recover.js';
import { underLockOfRuns } from './under-lock.js';

/** `self-heal undo`: takes back all that a run's agents changed (HN-8). */
export function undoCommand(): Command {
  return addWaitFlag(new Command('undo'))
    .description(
      'take back all that the agents of a run changed; what you changed since is left alone and named',
    )
    .argument('[run]', 'a run; latest by default', 'latest')
    .action(async (word: string, { wait = false }: { wait?: boolean }) =>
      end(await underLockOfRuns({ cwd: process.cwd(), command: 'undo', wait }, () => run(word))),
    );
}

async function run(word: string): Promise<number | Problem> {
  const cwd = process.cwd();
  await recover(cwd);
  const named = word === 'latest' ? null : (runIdOf(word, await runIdsIn(cwd)) ?? word);
  const found = await findRun(cwd, named);
  if (!found.ok) return found.error;
  const { runId, dir } = found.value;
  if ((await pidAtWork(dir)) !== null) return atWork(runId);
  const kept = await keptChanges(found.value);
  if (kept.length === 0) return say(`run ${runId} left no change in the project: nothing to undo`);
  const workspace = await openWorkspace(cwd);
  if (!workspace) return noGit;
  const undone = await undo(workspace, kept, await announceRunning({ dir }));
  say(
    [
      ...told(runId, undone),
      `the patches are kept in ${path.relative(cwd, path.join(dir, 'attempts'))}`,
    ].join('\n'),
  );
  return undone.leftAlone.length > 0 ? exitCodes.red : exitCodes.green;
}

function told(runId: string, { restored, leftAlone }: TakenBack): string[] {
  return [
    restored.length > 0
      ? `undone, what the agents of run ${runId} changed:`
      : `run ${runId}: everything is as before already`,
    ...restored.map((file) => `  ${file}`),
    ...(leftAlone.length > 0 ? ['left as they are, because they were changed again since:'] : []),
    ...leftAlone.map((file) => `  ${file}`),
  ];
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return exitCodes.green;
}

function atWork(runId: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} is still at work`,
    remedy: 'Wait until it is over, or interrupt it; what it has not proven then is taken back by itself.',
  };
}

const noGit: Problem = {
  kind: 'usage',
  message: 'git is not installed, so what the agents changed was not recorded',
  remedy: 'Look at the patches in .self-heal/latest/attempts/.',
};
