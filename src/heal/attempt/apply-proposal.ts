import type { Attempt } from '../../core/attempt.js';
import { builtIn } from '../../core/built-in-fixer.js';
import { err } from '../../result.js';
import { contentsOf } from '../../workspace/change.js';
import { bareAttempt, type Deployment } from './deploy.js';
import { deployEdits } from './deploy-edits.js';
import type { Proposed } from './proposed.js';
import type { Session } from '../session.js';
import { reasonOf } from '../../reason-of.js';

/** Makes a change of such a fix, for which nobody needs a copy of the project; guard, re-run and proof follow as for an agent (BF-5, ME-8). */
export async function applyProposal(
  session: Session,
  { proposal, causeId, n }: { proposal: Proposed; causeId: string; n: number },
): Promise<Deployment> {
  const startedAt = session.clock.now();
  const { agent, summary } = proposal;
  const settings = session.settings.agents[agent];
  const attempt: Attempt = {
    ...bareAttempt(n),
    agent,
    slashCommand: settings?.slashCommand ?? null,
    runner: settings?.runner ?? builtIn,
    outcome: 'completed',
    claim: { status: 'fixed', summary },
    usage: { costUsd: 0, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
  };
  session.bus.emit({ type: 'fixer.proposed', causeId, attempt: n, summary, agent });
  const got = await proposal
    .edits(session.workspace.root, contentsOf(session.folder.dir))
    .catch((error: unknown) => err(reasonOf(error)));
  if (!got.ok) return { attempt: { ...attempt, outcome: 'unchanged', failedBecause: got.error }, work: null };
  const durationMs = session.clock.now() - startedAt;
  return deployEdits(session, { ...attempt, durationMs }, got.value);
}
