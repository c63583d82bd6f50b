import path from 'node:path';
import { type Attempt, createAttempt, type PendingAttempt } from '../model/attempt.js';
import { builtIn } from '../model/built-in.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import type { Side } from '../model/choice.js';
import { type Escalation, createQuestion } from '../model/escalation.js';
import type { CauseEnd } from '../model/verdict.js';
import { localDay } from '../format.js';
import { openContentStore, storeChange } from '../workspace/change.js';
import { writePatch } from './attempt/keep-patch.js';
import { hasAppChanged, createAppRevert } from './attempt/since-green.js';
import { recordDecidedAttempt, storeAttemptStart } from './attempt/trial.js';
import type { CauseWork } from './cause-work.js';
import type { PreparedPatch } from './hooks.js';
import { isOwnAssertion } from './own-assertion.js';
import { tryPatchForReview } from './offers.js';
import type { Session } from './session.js';
import { storedSignature } from './stored-signature.js';

/**
 * Stores a question for a person, with the ready patches and up to two that need no agent: one reverts the change that broke the tests, if it is
 * known (BL-4), and one updates the expected texts in the tests to those on the page (BL-6). The run continues with other causes (ME-6).
 */
export async function askPerson(session: Session, work: CauseWork, question: string): Promise<CauseEnd> {
  const { cause, memory } = work;
  const agentQuestion = work.attempts.at(-1)?.claim?.status === 'needs-person' ? question : null;
  await offerPatchesWithoutAgent(session, work);
  const attempts = [...memory.failedAttempts, ...work.attempts];
  return escalate(session, cause, { attempts, agentQuestion, question });
}

/** Asks about a cause whose tests turned green after somebody edited them: only a person knows whether the edit is right (HN-3). */
export async function askAboutEdits(
  session: Session,
  { cause, memory, attempts }: CauseWork,
): Promise<CauseEnd> {
  const question = await storeEdits(session, cause.members);
  return escalate(session, cause, {
    attempts: [...memory.failedAttempts, ...attempts],
    agentQuestion: question,
    question,
  });
}

/** Stores other people's edits to tests, with their patch, and describes them in a sentence. */
export async function storeEdits(session: Session, failures: readonly DiagnosedFailure[]): Promise<string> {
  const { folder, bus, testFiles } = session;
  const files = [...new Set(failures.flatMap(({ failure }) => testFiles.listEditsToTest(failure)))];
  const change = await testFiles.createChange(openContentStore(folder.dir));
  await storeChange(folder.dir, change);
  const { patch } = await writePatch(session, change, path.join(folder.dir, 'edited-tests'));
  bus.emit({ type: 'tests.edited', files, change: change.id });
  return `${files.join(', ')} changed during the run, but not by a fix, so a green test proves nothing. The edit is in ${patch}; \`self-heal undo --tests\` reverts it`;
}

async function escalate(
  session: Session,
  cause: Cause,
  details: { attempts: readonly Attempt[]; agentQuestion: string | null; question: string },
): Promise<CauseEnd> {
  const { question } = details;
  const newQuestion = {
    ...createQuestion(cause, { ...details, reason: question }),
    signature: storedSignature(cause.lead),
  };
  const escalation = await session.store.escalate(newQuestion, session.folder.runId);
  const escalationId = escalation?.id ?? null;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId });
  return { verdict: 'escalated', reason: question };
}

/** Repeats an open question of an earlier run, without starting an agent (ME-6). */
export function repeatOpenQuestion(
  session: Session,
  cause: Cause,
  { id, createdAt, problem }: Escalation,
): CauseEnd {
  const question = `It has been waiting for an answer since ${localDay(createdAt)}: ${problem}`;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId: id });
  return { verdict: 'escalated', reason: question, askedBefore: true };
}

/** True if the new behavior may be intended: the app has changed, and the tests are green once they expect the texts on the page. */
export async function mayBeIntended(session: Session, work: CauseWork): Promise<boolean> {
  const { cause } = work;
  if (!(await createExpectationPatch(session, cause)) || !(await hasAppChanged(session, cause))) return false;
  await offerPatchesWithoutAgent(session, work);
  return hasOffer(work, 'tests');
}

/** Proves the patches that need no agent and adds those that hold, unless an agent has made one for the same side. */
async function offerPatchesWithoutAgent(session: Session, work: CauseWork): Promise<void> {
  const { cause, memory } = work;
  let n = work.attempts.at(-1)?.n ?? memory.tries.count;
  for (const patch of [await createExpectationPatch(session, cause), await createRevertPatch(session, cause)])
    if (patch !== null && !session.signal.aborted && !hasOffer(work, patch.side))
      await offerPatch(session, work, { n: (n += 1), patch });
}

function hasOffer({ attempts }: CauseWork, side: Side): boolean {
  return attempts.some(({ end }) => end.kind === 'offered' && end.side === side);
}

/** Returns a patch that updates the expected texts in the tests to those on the page (BL-6); null if there is none. */
async function createExpectationPatch({ hooks }: Session, cause: Cause): Promise<PreparedPatch | null> {
  const isAboutPage = cause.lead.diagnosis.category === 'ui-error' && isOwnAssertion(cause.lead);
  return (isAboutPage && (await hooks.proposeExpectations?.(cause))) || null;
}

/** Returns a patch that reverts the app's change (BL-4); null if no change is blamed and more than the test's own assertion failed. */
async function createRevertPatch(session: Session, cause: Cause): Promise<PreparedPatch | null> {
  const edits = cause.blame || isOwnAssertion(cause.lead) ? await createAppRevert(session, cause) : null;
  const target = cause.blame ? 'the change that broke it' : 'what has changed since its tests were green';
  return edits && { side: 'app', summary: `reverts ${target}`, edits };
}

/** Proves a patch that needs no agent; if the tests are green with it, adds it as an attempt for a person to decide on. */
async function offerPatch(
  session: Session,
  work: CauseWork,
  { n, patch }: { readonly n: number; readonly patch: PreparedPatch },
): Promise<void> {
  const { cause } = work;
  const causeId = cause.id;
  const { summary } = patch;
  const id = await storeAttemptStart(session, cause, { n, agent: builtIn, runner: builtIn });
  session.bus.emit({ type: 'fixer.proposed', causeId, attempt: n, summary, agent: builtIn });
  const pending: PendingAttempt = {
    ...createAttempt(n),
    agent: builtIn,
    proposedBy: 'fixer',
    runner: builtIn,
    exit: 'completed',
    claim: { status: 'fixed', summary },
    usage: { costUsd: 0, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
  };
  const attempt = await tryPatchForReview(session, cause, { pending, patch });
  if (attempt === null || session.signal.aborted) return;
  await recordDecidedAttempt(session, { cause, id, attempt });
  if (attempt.end.kind === 'offered') work.attempts = [...work.attempts, attempt];
}
