import type { Cause } from './core/cause.js';
import type { Proof } from './core/proof.js';
import type { AppliedAttempt } from './try-fix.js';
import type { Session } from './session.js';
import { end, runOnce, startTrial, takingPart, type Trial } from './trial.js';

/** What came of trying to prove a fix whose first re-run was green; `steps` are those of the test that leads. */
export type Proved =
  /** What the trial says of each test of the cause holds with the fix in place. */
  | { readonly kind: 'proven'; readonly steps: Proof; readonly trial: Trial }
  /** A further run was red: the first green was luck, or the fix does not always hold. */
  | { readonly kind: 'flaked'; readonly steps: Proof; readonly because: string }
  /** Green with the change taken out too: it was not the change. The change stays out. */
  | { readonly kind: 'not-needed'; readonly steps: Proof; readonly because: string }
  | { readonly kind: 'interrupted'; readonly steps: Proof };

/**
 * Proves a fix on the tests of its cause (HN-5, HL-6): green so often as `verify.repeat` says, then `verify.flips` times red with the
 * change taken out and green with it put back. All tests share each Playwright run. Where no file was changed the leading test alone is
 * looked at: who changed nothing heals nothing.
 */
export async function prove(session: Session, cause: Cause, applied: AppliedAttempt): Promise<Proved> {
  const { repeat, flips } = session.settings.verify;
  const trial = startTrial(session, cause, { withFollowers: applied.change !== null });
  await runFollowers(trial);
  if (session.signal.aborted) return interrupted(trial);
  for (let green = 1; green < repeat; green += 1) {
    const { red } = await runOnce(trial, takingPart(trial), 'proof');
    if (session.signal.aborted) return interrupted(trial);
    const held = dropped(trial, red, `green at first, and red again in run ${green + 1} of ${repeat}`);
    if (held) return held;
  }
  for (let flip = 0; flip < flips; flip += 1) {
    const ended = await flipOnce(trial, applied);
    if (ended) return ended;
  }
  return { kind: 'proven', steps: stepsOf(trial), trial };
}

/** The other tests of the cause meet the fix: those that stay red are no part of the proof (HL-6). */
async function runFollowers(trial: Trial): Promise<void> {
  const followers = takingPart(trial).slice(1);
  if (followers.length === 0) return;
  const { green, red } = await runOnce(trial, followers, 'shared-fix');
  end(red, 'red');
  end(
    green.filter(({ isProven }) => !isProven),
    'run-once',
  );
}

/** Red with the fix: the whole fix has not held where the leading test is among them; the others leave the proof. */
function dropped(trial: Trial, red: Trial['candidates'], because: string): Proved | null {
  const [leading] = takingPart(trial);
  if (!leading || red.includes(leading)) return { kind: 'flaked', steps: stepsOf(trial), because };
  end(red, 'unsteady');
  return null;
}

async function flipOnce(trial: Trial, { change }: AppliedAttempt): Promise<Proved | null> {
  const { workspace, signal } = trial.session;
  if (change === null) return null;
  await workspace.move([change], 'out');
  const without = await runOnce(trial, takingPart(trial), 'proof');
  if (signal.aborted) return interrupted(trial);
  if (without.red.length === 0) {
    const because = 'green with the change taken out too: the test is flaky';
    return { kind: 'not-needed', steps: stepsOf(trial), because };
  }
  end(without.green, 'flaky');
  await workspace.move([change], 'in');
  const back = await runOnce(trial, without.red, 'proof');
  if (signal.aborted) return interrupted(trial);
  return dropped(trial, back.red, 'red again when the change was put back');
}

function interrupted(trial: Trial): Proved {
  return { kind: 'interrupted', steps: stepsOf(trial) };
}

/** Of the test that leads: the cause's own, unless that turned out to be flaky. */
function stepsOf(trial: Trial): Proof {
  return [...((takingPart(trial)[0] ?? trial.candidates[0])?.steps ?? [])];
}
