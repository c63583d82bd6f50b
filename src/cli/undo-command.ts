import { Command } from 'commander';
import { end } from './end.js';

/** `self-heal undo`: takes back all that a run's agents changed (HN-8). */
export function undoCommand(): Command {
  return new Command('undo')
    .description(
      'take back all that the agents of a run changed; what you changed since is left alone and named',
    )
    .argument('[run]', 'a run; latest by default', 'latest')
    .action(async (word: string) => {
      const { runUndo } = await import('./run-undo.js');
      end(await runUndo(word));
    });
}
