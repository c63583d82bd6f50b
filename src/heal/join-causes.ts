import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '../model/cause.js';
import { type Progress, summarise } from './progress.js';

/**
 * Makes one cause of those whose smallest change is the same (HL-6): one decision needs one agent and one question, proven on all of their tests. What
 * its fix leaves red is a cause of its own again.
 */
export function joinCauses({ session, causes: known }: Progress, causes: readonly Cause[]): Cause[] {
  const joined: Cause[] = [];
  for (const cause of causes) {
    const at = joined.findIndex((other) => isBlamedAlike(other, cause));
    const first = joined[at];
    if (first) {
      const whole = { ...first, members: [...first.members, ...cause.members] };
      joined[at] = whole;
      known.set(whole.id, whole);
      known.delete(cause.id);
      session.bus.emit({ type: 'cause.joined', causeId: cause.id, cause: summarise(whole) });
    } else joined.push(cause);
  }
  return joined;
}

function isBlamedAlike({ blame }: Cause, { blame: other }: Cause): boolean {
  return (
    blame?.isMinimal === true && other?.isMinimal === true && isDeepStrictEqual(blame.hunks, other.hunks)
  );
}
