import path from 'node:path';
import { type Attempt, type Opinion, opinionText } from '../core/attempt.js';
import type { Cause } from '../core/cause.js';
import { noteLine } from '../core/guard-findings.js';
import { limitReached } from '../core/policy.js';
import { isInside, relativePath } from '../paths.js';
import { readStateText } from '../state-folder.js';
import type { Work } from '../workspace/workspace.js';
import { warnOf } from './attempt/deploy.js';
import { type DeployRequest, joinedUsage, readyAgent, tellEnded } from './attempt/start-agent.js';
import type { Session } from './session.js';

/** A fix to ask about, and whom to ask. */
interface ReviewRequest {
  readonly agent: string;
  readonly fix: Attempt;
  /** The attempts whose changes together are the fix. */
  readonly parts: readonly Attempt[];
}

/** The fix with what the second opinion adds to it, and why it is rejected, or null. */
export interface Reviewed {
  readonly attempt: Attempt;
  readonly hides: string | null;
}

/**
 * Asks an agent about a proven fix (HN-11): it reads the evidence, the patch and what the comparison of the code named, in a copy with the
 * fix. What it changes there is discarded, and named. Without an answer that can be read, it is unsure.
 */
export async function reviewFix(session: Session, cause: Cause, request: ReviewRequest): Promise<Reviewed> {
  const { agent, fix } = request;
  const asked = await ask(session, cause, request);
  const { runner = agent } = session.settings.agents[agent] ?? {};
  const { verdict, file, line, why } = asked.opinion;
  const attempt = { ...fix, usage: asked.usage };
  const hides = `hides the fault, says a second opinion (${runner}): ${opinionText(asked.opinion).replace(/^hides: /, '')}`;
  if (verdict === 'hides') return { attempt, hides };
  if (verdict === 'honest') return { attempt, hides: null };
  const note = {
    file: file ?? fix.files[0]?.path ?? '',
    line: file === null ? null : line,
    says: `a second opinion (${runner}) is unsure about the fix: ${why}`,
  };
  return { attempt: { ...attempt, notes: [...(fix.notes ?? []), note] }, hides: null };
}

/** Nothing else is at work by then, so that the first copy is free. */
const COPY = 0;

type Asked = Pick<Attempt, 'usage'> & { readonly opinion: Opinion };

async function ask(session: Session, cause: Cause, { agent, fix, parts }: ReviewRequest): Promise<Asked> {
  const { settings, spending, clock, folder, workspace, signal } = session;
  const without = (why: string): Asked => ({ usage: fix.usage, opinion: unsure(`it was not asked: ${why}`) });
  const missing = session.missingAgents?.get(agent);
  const reached = missing ?? limitReached(spending.spentFor(cause, clock.now()), settings.limits);
  if (reached !== null) return without(reached);
  const patches = parts.map(({ patch }) =>
    patch === null ? '' : readStateText(path.join(folder.dir, patch)),
  );
  const notes = parts.flatMap((one) => one.notes ?? []).map(noteLine);
  const review = { patch: patches.join(''), notes };
  const request: DeployRequest = { cause, agent, n: fix.n, previous: [], review };
  const ready = await readyAgent(session, request, { copy: COPY, signal });
  if (typeof ready === 'string') return without(ready);
  const { id, place } = ready;
  const run = await ready.work();
  warnOfWriting(session, cause.id, await workspace.collect(String(id), COPY));
  const said = run.opinion ?? unsure(`it gave no answer (${run.end.kind})`);
  const named = said.file === null ? null : path.resolve(session.cwd, place.toProject(said.file));
  const opinion = {
    ...said,
    file: named !== null && isInside(workspace.root, named) ? relativePath(workspace.root, named) : null,
    why: place.toProject(said.why),
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
