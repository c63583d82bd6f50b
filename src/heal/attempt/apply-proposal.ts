import type { Attempt } from '../../core/attempt.js';
import { builtIn } from '../../core/built-in-fixer.js';
import { bareAttempt, type Deployment, keepPatch } from './deploy.js';
import type { Proposed } from './proposed.js';
import type { Session } from '../session.js';

/** Writes such a fix into the copy, as an agent would; guard, re-run and proof follow as for an agent (BF-5, ME-8). */
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
  const written = await inCopy(session, proposal);
  if (written !== null)
    return { attempt: { ...attempt, outcome: 'unchanged', failedBecause: written }, work: null };
  const id = session.spending.nextAttempt();
  const work = await session.workspace.collect(String(id), session.copy);
  const file = await session.folder.attempt(id);
  const kept = work.change ? await keepPatch(session, work.change, file) : { files: [], patch: null };
  return {
    attempt: {
      ...attempt,
      ...kept,
      change: work.change?.id ?? null,
      durationMs: session.clock.now() - startedAt,
      failedBecause: work.refused,
    },
    work,
  };
}

/** Null, or why it could not be written. */
async function inCopy({ workspace, copy }: Session, proposal: Proposed): Promise<string | null> {
  try {
    return await proposal.write(workspace, await workspace.ready(copy));
  } catch (error) {
    return `it could not be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}
