import type { Report } from '../run/report.js';

/*
 * Past one machine, the matrix of a CI system is the engine: `heal --list` names the causes, each job heals one of them (`--cause`), and a last
 * one takes their patches (`--patches`) as it takes those of agents. Only artifacts pass between the machines.
 */

/** What `--cause` takes for the suite's own failure, which belongs to no test. */
export const suiteCause = 'suite';

/** Returns the value of a CI matrix: a job for each cause. A cause is named by the ids of its tests, which are the same on every machine. */
export function matrixOf({ causes }: Report) {
  const include = causes.map(({ tests, category, headline }) => ({
    cause: tests.length === 0 ? suiteCause : tests.join(','),
    class: category,
    headline: headline.slice(0, 80),
  }));
  return { include };
}
