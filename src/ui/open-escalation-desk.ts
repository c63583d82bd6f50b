import type { Escalation } from '../core/escalation.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Store } from '../store/store.js';
import type { EscalationDesk } from './escalation-routes.js';
import { answerEscalation, checkedAnswer, escalationOf, type TypedAnswer } from '../run/answer-escalation.js';
import { withPatches } from '../run/read-patch.js';
import { createRedactor } from '../secrets/redactor.js';
import { type StoreFlags, withStore } from '../store/with-store.js';

/**
 * Opens the desk of the project in the current folder. The store is opened for each request, so that an open page never blocks a run,
 * and finds a store that a run creates later.
 */
export function openEscalationDesk(flags: StoreFlags): EscalationDesk {
  const withProjectStore = async <T>(use: (store: Store | null) => Promise<Result<T, Problem>>) => {
    const used = await withStore(flags, use);
    return 'ok' in used ? used : err(used);
  };
  return {
    pending: () =>
      withProjectStore(async (store) => {
        const projectRoot = process.cwd();
        const redactor = await createRedactor({ env: process.env, projectRoot });
        const open = (await store?.escalations('pending')) ?? [];
        return ok(open.map((one) => withPatches(projectRoot, one, redactor)));
      }),
    answer: (id, given) =>
      withProjectStore(async (store) => (store ? answerOpen(store, id, given) : escalationOf(null, id))),
  };
}

/** Refuses to answer an escalation that was answered since the page showed it as pending. */
async function answerOpen(
  store: Store,
  id: string,
  given: TypedAnswer,
): Promise<Result<Escalation, Problem>> {
  const found = await escalationOf(store, id);
  if (!found.ok) return found;
  const asked = found.value;
  if (asked.state !== 'pending') return err(alreadyAnswered(asked));
  const answer = checkedAnswer(asked, given);
  return answer.ok ? answerEscalation(store, asked.id, answer.value) : answer;
}

function alreadyAnswered({ id, choice }: Escalation): Problem {
  return {
    kind: 'usage',
    message: `Escalation ${id} has already been answered: ${choice}`,
    remedy: 'Change the answer with self-heal escalations resolve.',
  };
}
