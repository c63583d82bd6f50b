import { drills } from './drills.js';
import type { Drill, DrillFacts, DrillResult, Judged } from './facts.js';

/** Judges each drill by what the run left: its report, the bytes of files, the living processes; never by what was printed. */
export function judgeDrills(facts: DrillFacts): DrillResult[] {
  return drills.map((drill) => {
    const { name, planted, proves } = drill;
    const { did, missed } = judged(drill, facts);
    return { name, planted, did, proves, held: missed.length === 0, missed };
  });
}

function judged({ spec, judge }: Drill, facts: DrillFacts): Judged {
  const { tests, causes } = facts.report;
  const test = tests.find(({ file }) => file === spec);
  if (!test) return { did: 'its test did not run', missed: [`${spec} is not in the report`] };
  const cause = causes.find((one) => one.tests.includes(test.id)) ?? null;
  const others = cause?.tests.filter((id) => id !== test.id) ?? [];
  const { did, missed } = judge(facts, { test, cause });
  if (others.length === 0) return { did, missed };
  return { did, missed: [...missed, 'it was taken for the same cause as another planted fault'] };
}
