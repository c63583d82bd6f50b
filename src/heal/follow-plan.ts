import { planProof } from './plan-proof.js';
import type { NextProofStep, ProofQuestion, TestInProof } from './proof-question.js';

/**
 * Makes the runs that the plan of a proof asks for, until a step ends the proof by returning false. Returns that step; null if the signal aborts
 * first.
 */
export async function followPlan(
  createQuestion: () => ProofQuestion,
  signal: AbortSignal,
  executeStep: (next: NextProofStep) => Promise<boolean>,
): Promise<NextProofStep | null> {
  const stepCounts = new Map<string, number>();
  while (!signal.aborted) {
    const next = planProof(createQuestion());
    countStep(stepCounts, next);
    if (!(await executeStep(next))) return signal.aborted ? null : next;
  }
  return null;
}

/** No proof needs the same run this often. */
const MAX_REPETITIONS = 100;

/** Counts the steps of a proof, and throws if the plan asks for the same run forever, which would cost the user a Playwright run each time. */
function countStep(stepCounts: Map<string, number>, next: NextProofStep): void {
  const tests = 'tests' in next && Array.isArray(next.tests) ? next.tests : [];
  const keys = [...tests, ...('test' in next ? [next.test] : [])].map(({ key }: TestInProof) => key);
  const step = JSON.stringify({ ...next, tests: keys, test: null });
  const times = (stepCounts.get(step) ?? 0) + 1;
  stepCounts.set(step, times);
  if (times > MAX_REPETITIONS) throw new Error(`The proof asks for the same step again and again: ${step}`);
}
