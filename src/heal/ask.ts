import path from 'node:path';
import { type Attempt, createAttempt, type PendingAttempt } from '../model/attempt.js';
import { builtIn } from '../model/built-in.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import type { Side } from '../model/choice.js';
import { type Escalation, createQuestion } from '../model/escalation.js';
import type { CauseEnd } from '../model/verdict.js';
import { localDay } from '../format.js';
import { openContents, storeChange } from '../workspace/change.js';
import { keepPatch } from './attempt/keep-patch.js';
import { hasAppChanged, takeBackApp } from './attempt/since-green.js';
import { attemptDecided, storeStart } from './attempt/trial.js';
import type { CauseWork } from './cause-work.js';
import type { PreparedPatch } from './hooks.js';
import { isOwnAssertion } from './own-assertion.js';
import { applyForReview } from './offers.js';
import type { Session } from './session.js';
import { rememberedAs } from './remembered-as.js';

/**
 * Stores a question for a person, with the patches that are ready and those that cost nothing: one takes back what broke the tests, if that is
 * known (BL-4), and one lets their texts follow the page (BL-6). The run continues with other causes (ME-6).
 */
export async function ask(session: Session, work: CauseWork, question: string): Promise<CauseEnd> {
  const { cause, known } = work;
  const asked = work.attempts.at(-1)?.claim?.status === 'needs-person' ? question : null;
  await offerForNothing(session, work);
  return store(session, cause, { attempts: [...known.tried, ...work.attempts], asked, question });
}

/** Asks about a cause whose tests turned green after somebody had edited them: only a person can say whether they are right (HN-3). */
export async function askAboutEdits(
  session: Session,
  { cause, known, attempts }: CauseWork,
): Promise<CauseEnd> {
  const question = await keepEdits(session, cause.members);
  return store(session, cause, { attempts: [...known.tried, ...attempts], asked: question, question });
}

/** Keeps the edits of tests by others, with their patch, and returns a sentence about them. */
export async function keepEdits(session: Session, failures: readonly DiagnosedFailure[]): Promise<string> {
  const { folder, bus, testFiles } = session;
  const files = [...new Set(failures.flatMap(({ failure }) => testFiles.editedFor(failure)))];
  const change = await testFiles.change(openContents(folder.dir));
  await storeChange(folder.dir, change);
  const { patch } = await keepPatch(session, change, path.join(folder.dir, 'edited-tests'));
  bus.emit({ type: 'tests.edited', files, change: change.id });
  return `${files.join(', ')} changed while the run worked, and not by a fix, so a green test shows nothing. The edit is in ${patch}; \`self-heal undo --tests\` takes it back`;
}

async function store(
  session: Session,
  cause: Cause,
  { question, ...asked }: { attempts: readonly Attempt[]; asked: string | null; question: string },
): Promise<CauseEnd> {
  const about = { ...createQuestion(cause, { ...asked, question }), signature: rememberedAs(cause.lead) };
  const escalation = await session.store.escalate(about, session.folder.runId);
  const escalationId = escalation?.id ?? null;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId });
  return { verdict: 'escalated', reason: question };
}

/** Repeats a question of an earlier run that nobody has answered; no agent is paid (ME-6). */
export function stillOpen(session: Session, cause: Cause, { id, createdAt, problem }: Escalation): CauseEnd {
  const question = `It has been waiting for an answer since ${localDay(createdAt)}: ${problem}`;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId: id });
  return { verdict: 'escalated', reason: question, askedBefore: true };
}

/** Whether a cause that nobody healed may be an intended change: the app has changed since, and its tests are green if they follow the page. */
export async function mayBeMeant(session: Session, work: CauseWork): Promise<boolean> {
  const { cause } = work;
  if (!(await followingPatch(session, cause)) || !(await hasAppChanged(session, cause))) return false;
  await offerForNothing(session, work);
  return hasOffer(work, 'tests');
}

/** Proves the patches that cost nothing and adds those that are offered, unless an agent has made one for the same side. */
async function offerForNothing(session: Session, work: CauseWork): Promise<void> {
  const { cause, known } = work;
  let n = work.attempts.at(-1)?.n ?? known.tries.count;
  for (const patch of [await followingPatch(session, cause), await revertingPatch(session, cause)])
    if (patch !== null && !session.signal.aborted && !hasOffer(work, patch.side))
      await offerPatch(session, work, { n: (n += 1), patch });
}

function hasOffer({ attempts }: CauseWork, side: Side): boolean {
  return attempts.some(({ end }) => end.kind === 'offered' && end.side === side);
}

/** Returns the patch with which the tests of a cause expect what the app does now (BL-6); null if there is none. */
async function followingPatch({ hooks }: Session, cause: Cause): Promise<PreparedPatch | null> {
  return (cause.lead.diagnosis.category === 'ui-error' && (await hooks.follow?.(cause))) || null;
}

/** Returns the patch that takes back what broke a cause in the app (BL-4); null if that is not known, or may not have been meant. */
async function revertingPatch(session: Session, cause: Cause): Promise<PreparedPatch | null> {
  const edits = cause.blame || isOwnAssertion(cause.lead) ? await takeBackApp(session, cause) : null;
  const what = cause.blame ? 'the change that broke it' : 'what has changed since its tests were green';
  return edits && { side: 'app', summary: `takes back ${what}`, edits };
}

/** Proves a patch that costs nothing; if its tests are green with it, adds it as an attempt that waits for a person. */
async function offerPatch(
  session: Session,
  work: CauseWork,
  { n, patch }: { readonly n: number; readonly patch: PreparedPatch },
): Promise<void> {
  const { cause } = work;
  const causeId = cause.id;
  const { summary } = patch;
  const id = await storeStart(session, cause, { n, agent: builtIn, runner: builtIn });
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
  const attempt = await applyForReview(session, cause, { pending, patch });
  if (attempt === null || session.signal.aborted) return;
  await attemptDecided(session, { cause, id, attempt });
  if (attempt.end.kind === 'offered') work.attempts = [...work.attempts, attempt];
}
