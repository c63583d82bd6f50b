import type { Category, Diagnosis } from './diagnosis.js';
import type { Settings } from './settings.js';

/** The agents that may be tried for a diagnosis, in order: those of its class, then of each alternative (CS-7). */
export function agentsFor(
  diagnosis: Pick<Diagnosis, 'category' | 'alternatives'>,
  routes: Settings['routes'],
): string[] {
  const classes = [diagnosis.category, ...diagnosis.alternatives];
  return [...new Set(classes.flatMap((category) => routes[category]))];
}

/** The class for which an agent was sent: the first of the diagnosis that is routed to it (HN-4 hangs on it). */
export function classFor(
  agent: string,
  { category, alternatives }: Pick<Diagnosis, 'category' | 'alternatives'>,
  routes: Settings['routes'],
): Category {
  return [category, ...alternatives].find((one) => routes[one].includes(agent)) ?? category;
}
