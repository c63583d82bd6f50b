import type { Cause } from '../core/cause.js';
import { groupCauses } from '../core/group.js';
import { isGreen } from '../core/judge.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { retest } from './retest.js';
import type { Healed } from './progress.js';
import type { Session } from './session.js';
import { summarise } from './summarise.js';

/** Searches for the change that broke each cause, without starting agents (BL-1). No change is to blame for a test that is green when re-run. */
export async function blameRun(session: Session, first: SuiteRun): Promise<Healed> {
  const { bus, signal } = session;
  const found = groupCauses(await session.diagnose(first));
  for (const cause of found) bus.emit({ type: 'cause.found', cause: summarise(cause) });
  const red = await confirmed(session, found);
  for (const cause of found.filter((one) => !red.includes(one))) {
    const ended = {
      verdict: 'flaky',
      reason: 'green when re-run',
      attempts: 0,
      costUsd: null,
    } as const;
    bus.emit({ type: 'cause.ended', causeId: cause.id, ...ended });
  }
  if (!signal.aborted) await session.blame?.(red);
  return { causes: [], suiteRed: first.suiteFailure !== null, paused: false };
}

async function confirmed(session: Session, causes: readonly Cause[]): Promise<readonly Cause[]> {
  if (causes.length === 0) return causes;
  const failures = causes.map(({ lead }) => lead);
  const seen = await retest(session, { failures, purpose: 'confirm', causeId: null });
  return causes.filter(({ lead }) => !isGreen(seen.observe(lead)));
}
