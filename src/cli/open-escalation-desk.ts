import type { Escalation } from '../core/escalation.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Ledger } from '../store/ledger.js';
import type { EscalationDesk } from '../ui/escalation-desk.js';
import { answerEscalation, checkedAnswer, escalationOf, type TypedAnswer } from './answer-escalation.js';
import { openLedger } from './open-ledger.js';

/**
 * The escalations of the project in the current folder. The store is opened for each request, so that a page that is left open
 * keeps no run waiting, and finds a store that the first run makes later.
 */
export function openEscalationDesk(agents: string | undefined): EscalationDesk {
  const withLedger = async <T>(use: (ledger: Ledger | null) => Promise<Result<T, Problem>>) => {
    const opened = await openLedger(agents);
    if (!opened.ok) return opened;
    const ledger = opened.value?.ledger ?? null;
    try {
      return await use(ledger);
    } finally {
      await ledger?.close();
    }
  };
  return {
    pending: () => withLedger(async (ledger) => ok((await ledger?.escalations('pending')) ?? [])),
    answer: (id, given) =>
      withLedger(async (ledger) => (ledger ? answerOpen(ledger, id, given) : escalationOf(null, id))),
  };
}

/** What somebody else answered meanwhile stays as it is: the page had shown it as open. */
async function answerOpen(
  ledger: Ledger,
  id: string,
  given: TypedAnswer,
): Promise<Result<Escalation, Problem>> {
  const found = await escalationOf(ledger, id);
  if (!found.ok) return found;
  const asked = found.value;
  if (asked.state !== 'pending') return err(alreadyAnswered(asked));
  const answer = checkedAnswer(asked, given);
  return answer.ok ? answerEscalation(ledger, asked.id, answer.value) : answer;
}

function alreadyAnswered({ id, choice }: Escalation): Problem {
  return {
    kind: 'usage',
    message: `Escalation ${id} has already been answered: ${choice}`,
    remedy: 'Change the answer with self-heal escalations resolve.',
  };
}
