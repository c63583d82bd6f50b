import path from 'node:path';
import { Command } from 'commander';
import { exitCodes, type Problem } from '../problem.js';
import { announceRunning } from '../running.js';
import { keptChanges, undo } from '../undo.js';
import { openWorkspace, type TakenBack } from '../workspace/workspace.js';
import { end } from './end.js';
import { noteUndone } from './note-undone.js';
import { recover } from './recover.js';
import { runToUndo } from './run-to-undo.js';

interface UndoOptions {
  yes?: boolean;
}

/** `self-heal undo`: takes back all that a run's agents changed (HN-8). */
export function undoCommand(): Command {
  return new Command('undo')
    .description(
      'take back all that the agents of a run changed; what you changed since is left alone and named',
    )
    .argument('[run]', 'a run, or the beginning of its id; by default the newest that left changes')
    .option('--yes', 'do not ask, where that is not the last run')
    .action(async (word: string | undefined, options: UndoOptions) => end(await run(word, options)));
}

async function run(word: string | undefined, options: UndoOptions): Promise<number | Problem> {
  const cwd = process.cwd();
  await recover(cwd);
  const chosen = await runToUndo({ cwd, word, yes: options.yes ?? false });
  if (!chosen.ok) return chosen.error;
  if (chosen.value === null) return exitCodes.interrupted;
  const { runId, dir } = chosen.value;
  const kept = await keptChanges(chosen.value);
  if (kept.length === 0) return say(`run ${runId} left no change in the project: nothing to undo`);
  const workspace = await openWorkspace(cwd);
  if (!workspace) return noGit;
  const undone = await undo(workspace, kept, await announceRunning({ dir }));
  await noteUndone(chosen.value, undone);
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

const noGit: Problem = {
  kind: 'usage',
  message: 'git is not installed, so what the agents changed was not recorded',
  remedy: 'Look at the patches in .self-heal/latest/attempts/.',
};
