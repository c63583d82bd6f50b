import { Command } from 'commander';
import { endWith } from './end.js';
import { addStoreFlag, addWaitFlag } from './options.js';

/** `self-heal undo`: reverts everything that a run's agents changed (HN-8). */
export function undoCommand(): Command {
  return addStoreFlag(addWaitFlag(new Command('undo')))
    .description(
      'revert everything the agents of a run changed; files you have changed since are left alone and listed',
    )
    .argument('[run]', 'a run, or the beginning of its id (default: the newest that left changes)')
    .option('--yes', 'do not ask for confirmation when the run is not the last one')
    .action(endWith(async () => (await import('./run-undo.js')).runUndo));
}
