import { readFile, writeFile } from 'node:fs/promises';
import type { Attempt } from '../../core/attempt.js';
import { builtIn } from '../../core/built-in-fixer.js';
import type { Proposal } from '../../fixer/proposal.js';
import { contentsOf } from '../../workspace/change.js';
import type { AgentPlace } from '../../workspace/workspace.js';
import { writeFiles } from '../../workspace/write-files.js';
import { type KeptFix, keptFixSummary } from '../kept-fixes.js';
import type { Session } from '../session.js';
import { bareAttempt, keepPatch, type Deployment } from './deploy.js';

/** A fix that needs no agent's work: the built-in fixer's, or one that an agent made in the run that this one goes on with. */
export type Proposed = Proposal | KeptFix;

/** Whose fix it is. */
export function agentOf(proposal: Proposed): string {
  return 'change' in proposal ? proposal.agent : builtIn;
}

/** Writes such a fix into the copy, as an agent would; guard, re-run and proof follow as for an agent (BF-5, ME-8). */
export async function applyProposal(
  session: Session,
  { proposal, causeId, n }: { proposal: Proposed; causeId: string; n: number },
): Promise<Deployment> {
  const startedAt = session.clock.now();
  const agent = agentOf(proposal);
  const settings = 'change' in proposal ? session.settings.agents[agent] : undefined;
  const summary = 'change' in proposal ? keptFixSummary(proposal) : proposal.summary;
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
  const written = await inCopy(session, (place) => write(session, proposal, place));
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
async function inCopy(
  { workspace, copy }: Session,
  work: (place: AgentPlace) => Promise<string | null>,
): Promise<string | null> {
  try {
    return await work(await workspace.ready(copy));
  } catch (error) {
    return `it could not be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function write(
  { workspace }: Session,
  proposal: Proposed,
  { toCopy }: AgentPlace,
): Promise<string | null> {
  if ('change' in proposal) {
    const { change, runDir } = proposal;
    const files = change.edits.map(({ path: file, before, after }) => ({
      path: file,
      known: [before],
      goal: after,
    }));
    const plan = { files, folders: [] };
    const { leftAlone } = await writeFiles(toCopy(workspace.root), plan, contentsOf(runDir));
    return leftAlone.length > 0 ? `${leftAlone.join(', ')} changed meanwhile` : null;
  }
  for (const { file, before, after } of proposal.files) {
    const copied = toCopy(file);
    // Bytes that are no UTF-8 would not come back as they were.
    if (!(await readFile(copied)).equals(Buffer.from(before)))
      return `${file} changed in the meantime, or is not UTF-8`;
    await writeFile(copied, after);
  }
  return null;
}
