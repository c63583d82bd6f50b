import { readFile, writeFile } from 'node:fs/promises';
import type { Attempt } from '../../core/attempt.js';
import { builtIn } from '../../core/built-in-fixer.js';
import type { Proposal } from '../../fixer/proposal.js';
import type { Session } from '../session.js';
import { bareAttempt, keepPatch, type Deployment } from './deploy.js';

/** Writes what the built-in fixer proposes into the copy, as an agent would; guard, re-run and proof follow as for an agent (BF-5). */
export async function applyProposal(
  session: Session,
  { proposal, causeId, n }: { proposal: Proposal; causeId: string; n: number },
): Promise<Deployment> {
  const startedAt = session.clock.now();
  const attempt: Attempt = {
    ...bareAttempt(n),
    agent: builtIn,
    runner: builtIn,
    outcome: 'completed',
    claim: { status: 'fixed', summary: proposal.summary },
    usage: { costUsd: 0, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
  };
  session.bus.emit({ type: 'fixer.proposed', causeId, attempt: n, summary: proposal.summary });
  const written = await writeInCopy(session, proposal);
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
async function writeInCopy({ workspace, copy }: Session, { files }: Proposal): Promise<string | null> {
  try {
    const { toCopy } = await workspace.ready(copy);
    for (const { file, before, after } of files) {
      const copied = toCopy(file);
      // Bytes that are no UTF-8 would not come back as they were.
      if (!(await readFile(copied)).equals(Buffer.from(before)))
        return `${file} changed in the meantime, or is not UTF-8`;
      await writeFile(copied, after);
    }
    return null;
  } catch (error) {
    return `it could not be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}
