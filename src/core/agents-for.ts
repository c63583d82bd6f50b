import type { Diagnosis } from './diagnosis.js';
import type { Settings } from './settings.js';

/** The agents that may be tried for a diagnosis, in order: those of its class, then of each alternative (CS-7). */
export function agentsFor(
  diagnosis: Pick<Diagnosis, 'category' | 'alternatives'>,
  routes: Settings['routes'],
): string[] {
  const classes = [diagnosis.category, ...diagnosis.alternatives];
  return [...new Set(classes.flatMap((category) => routes[category]))];
}
