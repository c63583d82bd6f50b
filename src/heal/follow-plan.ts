import { planProof } from './plan-proof.js';
import type { NextInProof, ProofQuestion, TestInProof } from './proof-question.js';

/** Makes the runs that the plan of a proof asks for, until a step ends the proof by returning false. Returns that step; null if the signal aborts first. */
export async function followPlan(
  createQuestion: () => ProofQuestion,
  signal: AbortSignal,
  carryOut: (next: NextInProof) => Promise<boolean>,
): Promise<NextInProof | null> {
  const asked = new Map<string, number>();
  while (!signal.aborted) {
    const next = planProof(createQuestion());
    countStep(asked, next);
    if (!(await carryOut(next))) return signal.aborted ? null : next;
  }
  return null;
}

/** No proof needs the same run this often. */
const MAX_REPETITIONS = 100;

/** Counts the steps of a proof, and throws if the plan asks for the same run forever, which would cost the user a Playwright run each time. */
function countStep(asked: Map<string, number>, next: NextInProof): void {
  const tests = 'tests' in next && Array.isArray(next.tests) ? next.tests : [];
  const keys = [...tests, ...('test' in next ? [next.test] : [])].map(({ key }: TestInProof) => key);
  const step = JSON.stringify({ ...next, tests: keys, test: null });
  const times = (asked.get(step) ?? 0) + 1;
  asked.set(step, times);
  if (times > MAX_REPETITIONS) throw new Error(`The proof asks for the same step again and again: ${step}`);
}
