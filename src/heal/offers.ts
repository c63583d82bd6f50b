import { type Attempt, bareAttempt, type Side } from '../core/attempt.js';
import { canBeReverted } from '../core/blame.js';
import { builtIn } from '../core/built-in-fixer.js';
import type { Cause } from '../core/cause.js';
import { chooseFlipped } from '../core/choose-flipped.js';
import { isGreen } from '../core/judge.js';
import type { Proof, ProofStep } from '../core/proof.js';
import { readChange } from '../workspace/change.js';
import type { FileEdit } from '../workspace/file-state.js';
import { attemptDecided } from './attempt/attempt-decided.js';
import { deployEdits } from './attempt/deploy.js';
import { retest } from './retest.js';
import type { Session } from './session.js';
import { revertChanges } from './take-out.js';

/**
 * Runs all tests of a cause, with the change in question in the project, until they have been green as often as a heal has to be; `greens` of
 * these runs have been made. Returns the proof; null if one was red.
 */
export async function shownGreen(session: Session, cause: Cause, greens: number): Promise<Proof | null> {
  const { repeat, confirm } = session.settings.verify;
  const failures = [...cause.members];
  // A run that judged an attempt had only some of them.
  const made = failures.length > chooseFlipped(cause).size ? Math.min(greens, repeat - 1) : greens;
  for (let n = made; n < repeat; n += 1) {
    const seen = await retest(session, { failures, purpose: 'proof', causeId: cause.id });
    if (session.signal.aborted || !failures.every((one) => isGreen(seen.observe(one)))) return null;
  }
  const [reds, greensShown] = [
    Array<ProofStep>(1 + confirm).fill('red'),
    Array<ProofStep>(repeat).fill('green'),
  ];
  return [...reds, ...greensShown];
}

/** A patch that costs nothing, to be offered to a person. */
export interface FreePatch {
  readonly side: Side;
  readonly summary: string;
  readonly edits: readonly FileEdit[];
}

/** Proves a patch in the project and takes it out again. Returns it as an attempt that waits for a person; null if its tests are not green with it. */
export async function offer(
  session: Session,
  cause: Cause,
  { n, patch }: { readonly n: number; readonly patch: FreePatch },
): Promise<Attempt | null> {
  const { side, summary, edits } = patch;
  const id = await session.store.attemptStarted({
    causeId: cause.id,
    signature: cause.lead.signature,
    n,
    agent: builtIn,
  });
  session.bus.emit({ type: 'fixer.proposed', causeId: cause.id, attempt: n, summary, agent: builtIn });
  const made: Attempt = {
    ...bareAttempt(n),
    agent: builtIn,
    runner: builtIn,
    outcome: 'completed',
    claim: { status: 'fixed', summary },
    usage: { costUsd: 0, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
    reverted: true,
  };
  const { attempt, work } = await deployEdits(session, made, edits);
  const applied = work?.change ? await session.workspace.apply(work.change) : null;
  if (applied?.kind !== 'applied') return null;
  const proof = await shownGreen(session, cause, 0);
  await revertChanges(session, [applied.change.id]);
  const judged: Partial<Attempt> =
    proof === null
      ? { judged: 'still-failing', failedBecause: `not all tests are green with it: ${summary}` }
      : { judged: 'offered', offers: side, proof, failedBecause: summary };
  const ended = { ...attempt, ...judged };
  if (session.signal.aborted) return null;
  await attemptDecided(session, { causeId: cause.id, id, attempt: ended });
  return proof === null ? null : ended;
}

/** Returns the patch that takes back the change that broke a cause, if that is in the app (BL-4). */
export async function revertOf({ folder }: Session, { blame }: Cause): Promise<FreePatch | null> {
  const change = canBeReverted(blame) ? readChange(folder.dir, blame.change) : null;
  return change && { side: 'app', summary: 'takes back the change that broke it', edits: change.edits };
}
