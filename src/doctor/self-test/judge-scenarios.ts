import { scenarios } from './scenarios.js';
import type { Scenario, SelfTestFacts, ScenarioResult, Judged } from './facts.js';

/** Judges each scenario by what the run left: its report, the bytes of files, the living processes; never by what was printed. */
export function judgeScenarios(facts: SelfTestFacts): ScenarioResult[] {
  return scenarios.map((scenario) => {
    const { name, planted, proves } = scenario;
    const { did, missed } = judged(scenario, facts);
    return { name, planted, did, proves, held: missed.length === 0, missed };
  });
}

function judged({ spec, judge }: Scenario, facts: SelfTestFacts): Judged {
  const { tests, causes } = facts.report;
  const test = tests.find(({ file }) => file === spec);
  if (!test) return { did: 'its test did not run', missed: [`${spec} is not in the report`] };
  const cause = causes.find((one) => one.tests.includes(test.id)) ?? null;
  const others = cause?.tests.filter((id) => id !== test.id) ?? [];
  const { did, missed } = judge(facts, { test, cause });
  if (others.length === 0) return { did, missed };
  return { did, missed: [...missed, 'it was grouped with another planted fault'] };
}
