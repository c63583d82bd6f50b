import { Command } from 'commander';
import { end } from './end.js';
import { addWaitFlag } from './options.js';

/** `self-heal undo`: takes back all that a run's agents changed (HN-8). */
export function undoCommand(): Command {
  return addWaitFlag(new Command('undo'))
    .description(
      'take back all that the agents of a run changed; what you changed since is left alone and named',
    )
    .argument('[run]', 'a run; latest by default', 'latest')
    .action(async (word: string, { wait = false }: { wait?: boolean }) => {
      const { runUndo } = await import('./run-undo.js');
      end(await runUndo(word, wait));
    });
}
