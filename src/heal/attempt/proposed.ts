import { formatAgentName, builtIn } from '../../model/built-in.js';
import { describeError } from '../../problem.js';
import { err, ok } from '../../result.js';
import { findRunDir } from '../../run/run-folder.js';
import { type ContentStore, openContentStore, readChange } from '../../workspace/change.js';
import type { ProposalRequest, ProposedFix } from '../hooks.js';
import type { Session } from '../session.js';
import { createChangeFromEdits } from './keep-patch.js';
import type { Trial } from './trial.js';

/** Yields the fixes to try before an agent starts. Calls a proposer only if the fixes of earlier ones have not healed the cause. */
export async function* listProposals(
  session: Pick<Session, 'hooks' | 'bus' | 'cwd' | 'observations'>,
  request: ProposalRequest,
): AsyncGenerator<ProposedFix> {
  yield* proposeChosen(session, request);
  if (request.memory.decision?.chosen) return;
  for (const propose of session.hooks.proposers ?? []) yield* propose(request);
}

/** Yields the patch that a person chose. */
async function* proposeChosen(
  { bus, cwd, observations }: Pick<Session, 'bus' | 'cwd' | 'observations'>,
  { cause, memory }: ProposalRequest,
): AsyncGenerator<ProposedFix> {
  if (!memory.decision?.chosen) return;
  const { agent, change: id, runId, side, takesOut } = memory.decision.chosen;
  const runDir = findRunDir(cwd, runId);
  const change = readChange(runDir, id);
  const patchName = side === 'whole' ? 'the whole patch' : `the patch for the ${side}`;
  const summary = `${patchName} by ${formatAgentName(agent)}, chosen by a person`;
  if (!change) {
    const message = `${cause.id}: ${summary}, is no longer here: the folder of run ${runId} was deleted, or is on another machine`;
    bus.emit({ type: 'run.warning', message });
    return;
  }
  if (takesOut) observations.allowAbsence(cause.members);
  const readEdits = async (_root: string, contents: ContentStore) => {
    const stored = openContentStore(runDir);
    const states = change.edits.flatMap(({ before, after }) => [before, after]);
    for (const state of states) if (state) await contents.put(await stored.get(state.hash));
    return ok(change.edits);
  };
  yield { agent, proposedBy: 'person', summary, edits: readEdits };
}

/** Turns a proposal into a change without a copy of the project. Guard, re-run and proof follow as for an agent's change (BF-5, ME-8). */
export async function applyProposal(
  session: Session,
  trial: Trial,
  { proposal, causeId }: { readonly proposal: ProposedFix; readonly causeId: string },
): Promise<void> {
  const startedAt = session.clock.now();
  const { agent, summary, proposedBy, remembered, reading } = proposal;
  const { n } = trial.record;
  trial.record = {
    ...trial.record,
    agent,
    proposedBy,
    ...(remembered === undefined ? {} : { remembered }),
    ...(reading === undefined ? {} : { reading }),
    slashCommand: null,
    runner: builtIn,
    exit: 'completed',
    claim: { status: 'fixed', summary },
    usage: { costUsd: 0, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
  };
  session.bus.emit({ type: 'fixer.proposed', causeId, attempt: n, summary, agent });
  const fixEdits = await proposal
    .edits(session.workspace.root, openContentStore(session.folder.dir))
    .catch((error: unknown) => err(describeError(error)));
  const prepared = fixEdits.ok ? await createChangeFromEdits(session, fixEdits.value) : fixEdits.error;
  if (typeof prepared === 'string') {
    trial.because = prepared;
    return;
  }
  const durationMs = session.clock.now() - startedAt;
  trial.record = { ...trial.record, durationMs, ...prepared.kept };
  [trial.work, trial.change] = [prepared.work, prepared.work.change];
}
