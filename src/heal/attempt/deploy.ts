import { errorOfEnd } from '../../core/agent-error.js';
import { type Attempt, bareAttempt } from '../../core/attempt.js';
import { unreachable } from '../../core/unreachable.js';
import { type FinishedAgent, runWithRestarts } from './restart-agent.js';
import type { Redactor } from '../../secrets/redactor.js';
import { type DeployRequest, sessionOf, startAgent } from './start-agent.js';
import type { Session } from '../session.js';
import { type Change, type Contents, contentsOf } from '../../workspace/change.js';
import { renderChange } from '../../workspace/patch-text.js';
import type { Work } from '../../workspace/workspace.js';
import { reasonOf } from '../../problem.js';
import { writeState } from '../../state-folder.js';
import type { FileEdit } from '../../workspace/file-state.js';
import { relativePath } from '../../paths.js';

/** The result of one agent's work, not yet judged and not yet applied to the project. */
export interface Deployment {
  readonly attempt: Attempt;
  /** Null if no agent worked. */
  readonly work: Work | null;
}

/** Runs one agent on a cause, in the copy of the project. */
export async function deploy(session: Session, request: DeployRequest): Promise<Deployment> {
  const place = await session.workspace.ready(session.copy).catch(reasonOf);
  if (typeof place === 'string') return withoutCopy(session, request, place);
  using working = session.spending.agentStarted(request.cause);
  const n = session.spending.nextAttempt();
  const file = await session.folder.attempt(n);
  const run = await runWithRestarts(session, {
    cause: request.cause,
    n: request.n,
    runner: session.settings.agents[request.agent]?.runner ?? '',
    resume: sessionOf(session, request),
    start: (start) => startAgent(session, request, { ...start, file, place }),
  });
  const work = await session.workspace.collect(String(n), session.copy);
  warnOf(session, request.cause.id, work);
  const { files, patch } = work.change ? await keepPatch(session, work.change, file) : nothing;
  const outcome = outcomeOf(run, work);
  const attempt: Attempt = {
    ...bareAttempt(request.n),
    ...namesOf(session, request),
    outcome,
    claim: run.claim,
    usage: run.usage,
    durationMs: run.durationMs,
    files,
    patch,
    prompt: relativePath(session.folder.dir, `${file}.prompt.md`),
    change: work.change?.id ?? null,
    failedBecause: work.refused ?? failureOf(run, outcome, session.signal.reason),
    ...(run.end.kind === 'unusable' ? { remedy: run.end.remedy } : {}),
  };
  working.cost(attempt.usage?.costUsd ?? null);
  announceEnd(session, request, { attempt, run });
  return { attempt, work };
}

/** Without a copy no agent can work; what prevents it (such as a full disk) is for a person to fix. */
function withoutCopy(session: Session, request: DeployRequest, reason: string): Deployment {
  const attempt: Attempt = {
    ...bareAttempt(request.n),
    ...namesOf(session, request),
    outcome: 'unusable',
    failedBecause: `Could not copy the project for the agent: ${reason}`,
  };
  return { attempt, work: null };
}

function namesOf({ settings }: Session, { agent }: Pick<DeployRequest, 'agent'>) {
  const { slashCommand = null, runner = null } = settings.agents[agent] ?? {};
  return { agent, slashCommand, runner };
}

const nothing = { files: [], patch: null };

const PATHS_SHOWN = 5;

/**
 * Warns if an agent changed only files that git ignores, which are not judged, are not in the patch, and stay in the copy; and if files of
 * the project itself changed meanwhile: an agent that uses absolute paths can write there.
 */
export function warnOf({ bus }: Session, causeId: string, { ignored, change, changedInProject }: Work): void {
  const warn = (message: string) => bus.emit({ type: 'run.warning', message: `${causeId}: ${message}` });
  if (ignored.length > 0 && change === null)
    warn(
      `its agent changed only files that git ignores, and these cannot be part of a fix: ${shown(ignored)}`,
    );
  if (changedInProject.length > 0)
    warn(
      `while its agent worked in its copy, these files of the project itself changed: ${shown(changedInProject)}. If neither you nor the tests changed them, the agent did. They are not part of its fix, are not judged, and are not reverted.`,
    );
}

function shown(files: readonly string[]): string {
  const more = files.length > PATHS_SHOWN ? ` and ${files.length - PATHS_SHOWN} more` : '';
  return `${files.slice(0, PATHS_SHOWN).join(', ')}${more}`;
}

/** Writes the patch as people, prompts and reports see it. */
export async function keepPatch(session: Session, change: Change, file: string) {
  const contents = contentsOf(session.folder.dir);
  const { files } = await renderChange(change, contents);
  const { patch } = await renderChange(change, maskedContents(contents, session.redactor));
  writeState(`${file}.patch`, shownPatch(patch, session.redactor));
  return { files, patch: relativePath(session.folder.dir, `${file}.patch`) };
}

/** Masks both sides before they are compared, because the signs of a diff would break up a secret that spans several lines. */
function maskedContents(contents: Contents, redactor: Redactor): Contents {
  return {
    ...contents,
    get: async (hash) => {
      const exact = await contents.get(hash);
      const text = exact.toString('utf8');
      const masked = redactor.text(text);
      return masked === text ? exact : Buffer.from(masked);
    },
  };
}

/**
 * Returns the text of a patch for display. Without secrets, it is byte for byte what `git apply` accepts. With secrets, it is masked;
 * the exact bytes are only in the run's stored contents, from which the change is applied.
 */
function shownPatch(exact: Uint8Array, redactor: Redactor): Uint8Array | string {
  const text = Buffer.from(exact).toString('utf8');
  const masked = redactor.text(text);
  return masked === text ? exact : masked;
}

/** Combines how the process ended with what happened to the files (AG-8). */
function outcomeOf(run: FinishedAgent, { change, refused }: Work): Attempt['outcome'] {
  if (run.end.kind !== 'completed' || change !== null || refused !== null) return run.end.kind;
  // An agent that says that it made no fix has answered, whatever it was denied on the way.
  const hasAnswered = run.claim !== null && run.claim.status !== 'fixed';
  return run.denials.length > 0 && !hasAnswered ? 'denied' : 'unchanged';
}

function failureOf(
  { end, claim, denials }: FinishedAgent,
  outcome: Attempt['outcome'],
  stopped: unknown,
): string | null {
  switch (end.kind) {
    case 'completed':
      if (outcome === 'denied')
        return `its program denied it ${[...new Set(denials)].join(', ')}, and no files were changed`;
      if (outcome === 'unchanged')
        return `the agent ${claim ? `said "${claim.status}" and ` : ''}changed no files`;
      return null;
    case 'exited':
      return `the agent exited with code ${end.exitCode}`;
    case 'signalled':
      return `the agent was killed by ${end.signal}`;
    case 'timed-out':
      return `the agent did not finish within ${Math.round(end.afterMs / 1000)} s`;
    case 'spawn-failed':
      return `the agent could not be started: ${end.reason}`;
    case 'aborted':
      return typeof stopped === 'string' ? stopped : 'interrupted';
    case 'limited':
      return `the agent reached its own limit: ${end.reason}`;
    case 'unusable':
      return `${end.reason}. ${end.remedy}`;
    default:
      return unreachable(end);
  }
}

function announceEnd(
  session: Session,
  request: DeployRequest,
  ended: { attempt: Attempt; run: FinishedAgent },
): void {
  session.bus.emit({
    type: 'agent.ended',
    causeId: request.cause.id,
    attempt: request.n,
    outcome: ended.attempt.outcome,
    durationMs: ended.run.durationMs,
    costUsd: ended.run.usage.costUsd,
    agentError: errorOfEnd(ended.run.end),
    filesChanged: ended.attempt.files.length,
    orphans: ended.run.orphans,
  });
}

/** Turns edits that no agent made here into a deployment like an agent's: a change with its patch, not judged and not yet applied. */
export async function deployEdits(
  session: Session,
  attempt: Attempt,
  edits: readonly FileEdit[],
): Promise<Deployment> {
  const id = session.spending.nextAttempt();
  const work = session.workspace.edit(String(id), edits);
  const kept = await keepPatch(session, work.change, await session.folder.attempt(id));
  return { attempt: { ...attempt, ...kept, change: work.change.id }, work };
}
