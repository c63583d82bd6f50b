import type { Report } from '../run/report.js';

/*
 * A CI matrix can heal causes on several machines: `heal --list` lists the causes, each job heals one of them (`--cause`), and a last job proves
 * their patches together (`--patches`). The machines share only artifacts.
 */

/** The value of `--cause` for a failure of the suite itself, which belongs to no test. */
export const suiteCause = 'suite';

/** Creates the value of a CI matrix: a job for each cause, named by the ids of its tests, which are the same on every machine. */
export function createMatrix({ causes }: Report) {
  const include = causes.map(({ tests, category, headline }) => ({
    cause: tests.length === 0 ? suiteCause : tests.join(','),
    class: category,
    headline: headline.slice(0, 80),
  }));
  return { include };
}
