import type { AttemptEnd } from '../model/attempt.js';
import { type Note, noteLine } from '../model/guard-findings.js';
import type { Challenge } from './challenge.js';
import { secondOpinion } from './review-fix.js';
import { otherInput } from './try-other-input.js';

/** Asks about what agents are known to cheat with. */
const shapes: Challenge = async (_session, fixes) =>
  fixes.flatMap(({ cause: { id: causeId }, suspicions }) => {
    const notes = suspicions.map(({ file, line, says }) => ({ file, line, says }));
    return notes.length > 0 ? [{ causeId, kind: 'ask', notes }] : [];
  });

/** All challenges, in the order in which a proof calls them. */
export const challenges: readonly Challenge[] = [shapes, otherInput, secondOpinion];

/** Ends an attempt that waits for a person's answer to these notes. */
export function askedEnd(
  notes: readonly Note[],
  proof: Extract<AttemptEnd, { kind: 'offered' }>['proof'],
): Extract<AttemptEnd, { kind: 'offered' }> {
  const [first, ...others] = notes.map(noteLine);
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return { kind: 'offered', side: 'app', proof, because: `is this fix meant? ${first}${more}` };
}
