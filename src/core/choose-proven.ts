import type { Cause, DiagnosedFailure } from './cause.js';

/** The maximum number of tests of one cause that get the full proof. */
const MAX_TESTS = 20;
/** With the change reverted, tests fail as before; this is the maximum total time that those besides the lead may take, in milliseconds. */
const MAX_RED_MS = 300_000;

/**
 * Chooses the tests of a cause that get the full proof (HL-6): the lead, and others as long as they are few and fail fast. Tests from
 * other files come first, since they differ the most. The remaining tests run once.
 */
export function chooseProven({ lead, members }: Cause): Set<DiagnosedFailure> {
  const chosen = new Set([lead]);
  let redMs = 0;
  for (const member of byTurns(members.filter((one) => one !== lead))) {
    redMs += member.failure.scope === 'test' ? member.failure.durationMs : 0;
    if (chosen.size >= MAX_TESTS || redMs > MAX_RED_MS) break;
    chosen.add(member);
  }
  return chosen;
}

/** Orders members round-robin by file: the first of each file, then the second of each. */
function byTurns(members: readonly DiagnosedFailure[]): DiagnosedFailure[] {
  const met = new Map<string, number>();
  const turns = members.map((member) => {
    const file = member.failure.scope === 'test' ? member.failure.test.location.file : '';
    const turn = met.get(file) ?? 0;
    met.set(file, turn + 1);
    return { member, turn };
  });
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ member }) => member);
}
