import path from 'node:path';
import { reviewer } from '../agents/check-agents.js';
import { type Attempt, type Opinion, opinionText } from '../model/attempt.js';
import { type Note, noteLine } from '../model/guard-findings.js';
import type { Cause } from '../model/cause.js';
import { limitReached } from './policy.js';
import { isInside, relativePath } from '../paths.js';
import { readStateText } from '../state-folder.js';
import type { Work } from '../workspace/workspace.js';
import { warnOf } from './attempt/deploy.js';
import { type DeployRequest, joinedUsage, readyAgent, tellEnded } from './attempt/start-agent.js';
import type { Session } from './session.js';

/** A fix that is in the project, and that no run has contradicted. */
export interface ProvenFix {
  readonly cause: Cause;
  /** The attempt that turned its tests green. */
  readonly attempt: Attempt;
  /** The attempts whose changes together are the fix. */
  readonly parts: readonly Attempt[];
}

/** What a second opinion says about a fix. A person is asked about what is in `asks`; null if it may enter. */
export interface Answer extends Pick<Attempt, 'usage'> {
  readonly causeId: string;
  readonly asks: Note | null;
}

/**
 * Asks an agent about proven fixes (HN-11). In a copy with the fix, it reads the evidence, the patch and the findings; changes that it makes are
 * discarded, with a warning. A fix that it calls `honest` enters; after any other answer, or none, a person is asked.
 */
export async function secondOpinion(session: Session, fixes: readonly ProvenFix[]): Promise<Answer[]> {
  const { review } = session.settings.verify;
  const answers: Answer[] = [];
  for (const fix of fixes) {
    const { agent, proposedBy } = fix.attempt;
    const isByAgent = agent !== null && proposedBy !== 'fixer' && proposedBy !== 'person';
    if (review !== null && isByAgent && !session.signal.aborted) answers.push(await answerOn(session, fix));
  }
  return answers;
}

async function answerOn(session: Session, fix: ProvenFix): Promise<Answer> {
  const causeId = fix.cause.id;
  const { opinion, usage } = await ask(session, fix);
  if (opinion.verdict === 'honest') return { causeId, usage, asks: null };
  const { runner = reviewer } = session.settings.agents[reviewer] ?? {};
  const note = {
    file: opinion.file ?? fix.attempt.files[0]?.path ?? '',
    line: opinion.file === null ? null : opinion.line,
    says: `a second opinion (${runner}) says ${opinionText({ ...opinion, file: null })}`,
  };
  return { causeId, usage, asks: note };
}

/** No agent is at work by then, so the first copy is free. */
const COPY = 0;

type Review = Pick<Attempt, 'usage'> & { readonly opinion: Opinion };

async function ask(session: Session, { cause, attempt: fix, parts }: ProvenFix): Promise<Review> {
  const agent = reviewer;
  const { settings, spending, clock, folder, workspace, signal } = session;
  const without = (why: string): Review => ({
    usage: fix.usage,
    opinion: unsure(`it was not asked: ${why}`),
  });
  const missing = session.missingAgents?.get(agent);
  const reached = missing ?? limitReached(spending.spentFor(cause, clock.now()), settings.limits);
  if (reached !== null) return without(reached);
  const patches = parts.map(({ patch }) =>
    patch === null ? '' : readStateText(path.join(folder.dir, patch)),
  );
  const notes = parts.flatMap((attempt) => attempt.notes ?? []).map(noteLine);
  const review = { patch: patches.join(''), notes };
  const request: DeployRequest = { cause, agent, n: fix.n, previous: [], review };
  const ready = await readyAgent(session, request, { copy: COPY, signal });
  if (typeof ready === 'string') return without(ready);
  const { id, workingCopy } = ready;
  const run = await ready.work();
  warnOfWriting(session, cause.id, await workspace.collect(String(id), COPY));
  const answer = run.opinion ?? unsure(`it gave no answer (${run.end.kind})`);
  const named = answer.file === null ? null : path.resolve(session.cwd, workingCopy.toProject(answer.file));
  const opinion = {
    ...answer,
    file: named !== null && isInside(workspace.root, named) ? relativePath(workspace.root, named) : null,
    why: workingCopy.toProject(answer.why),
  };
  tellEnded(session, request, { ...run, filesChanged: 0, opinion });
  const { usage } = run;
  const used = fix.usage ? { ...joinedUsage(fix.usage, usage), sessionId: fix.usage.sessionId } : usage;
  return { usage: used, opinion };
}

function unsure(why: string): Opinion {
  return { verdict: 'unsure', file: null, line: null, why };
}

function warnOfWriting(session: Session, causeId: string, work: Work): void {
  warnOf(session, causeId, { ...work, ignored: [] });
  const changed = (work.change?.edits ?? []).map((edit) => edit.path).slice(0, 5);
  if (changed.length === 0) return;
  const message = `${causeId}: the agent that was asked about the fix changed files of its copy, which are discarded: ${changed.join(', ')}`;
  session.bus.emit({ type: 'run.warning', message });
}
