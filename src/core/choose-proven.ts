import type { Cause, DiagnosedFailure } from './cause.js';

/** The most tests of one cause that are proven one by one. */
const MAX_TESTS = 20;
/** With the change reverted they fail as before: the longest that may take besides the lead, one after another, in milliseconds. */
const MAX_RED_MS = 300_000;

/**
 * The tests of a cause that the whole proof is run on (HL-6): the lead, and others while they are few and fail fast; those of
 * other files come first, since they differ the most. The rest is run once.
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

/** The first of each file, then the second of each. */
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
