import { expect, it } from 'vitest';
import { simulatedSchedule } from '../rig/simulated-schedule.js';

/** Seeds of the simulated schedules; SEEDS tries another number of them. */
const seeds = Number(process.env['SEEDS'] ?? 1000);

it(`SC-3 HN-2 HN-9 in ${seeds} schedules, every cause ends, one writer has the tree, and limits hold`, async () => {
  for (let seed = 100; seed < 100 + seeds; seed += 1) {
    const { report, fixes, decided, ...run } = await simulatedSchedule(seed);
    const open = report.causes.filter(({ verdict }) => verdict === null).map(({ id }) => id);
    expect({ seed, open }).toEqual({ seed, open: [] });
    expect(run.most, `seed ${seed}`).toBeLessThanOrEqual(run.parallel);
    expect(run.started, `seed ${seed}`).toBeLessThanOrEqual(run.agentRuns);
    expect(decided, `seed ${seed}`).toEqual(expect.arrayContaining([...fixes]));
  }
}, 3_600_000);
