import { systemClock } from '../../clock.js';
import { createPatience, longestAwayMs, type Patience } from '../../queue/patient.js';
import type { Opened } from '../open-run.js';

/** Creates the patience with which a queued run waits for its store, without which neither it nor its workers can continue. */
export function storePatience({ bus, signal }: Pick<Opened, 'bus' | 'signal'>): Patience {
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  return createPatience({
    clock: systemClock,
    signal,
    forMs: longestAwayMs,
    onAway: (reason) => warn(`Cannot reach the store (${reason}); retrying.`),
    onBack: () => warn('The store is reachable again.'),
  });
}
