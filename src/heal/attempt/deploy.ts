import { type AttemptEnd, createAttempt, type PendingAttempt } from '../../model/attempt.js';
import { unreachable } from '../../unreachable.js';
import {
  type DeployRequest,
  type FinishedAgent,
  readyAgent,
  announceAgentEnd,
  type AgentSlot,
} from './start-agent.js';
import type { Redactor } from '../../secrets/redactor.js';
import type { Session } from '../session.js';
import { type Change, type Contents, openContents } from '../../workspace/change.js';
import { findUnwritable } from '../../workspace/project-files.js';
import { renderChange } from '../../workspace/patch-text.js';
import type { Work } from '../../workspace/workspace.js';
import { writeState } from '../../state-folder.js';
import type { FileEdit } from '../../workspace/file-state.js';
import { relativePath } from '../../paths.js';

/** An attempt with its work, not yet judged and not yet applied to the project. */
export interface Deployment {
  readonly pending: PendingAttempt;
  /** Null if no agent worked. */
  readonly work: Work | null;
  /** Set if there is nothing to try. */
  readonly end: AttemptEnd | null;
  /** What its program says about a failure, besides what a re-run shows; null for nothing. */
  readonly because: string | null;
  /** Whether its program denied it every edit. */
  readonly isDenied?: boolean;
}

/** Makes an agent ready to work on a cause. Returns the rest of its work, for which nobody needs the project. */
export async function prepareAgent(
  session: Session,
  request: DeployRequest,
  at: AgentSlot,
): Promise<() => Promise<Deployment>> {
  const { cause, n } = request;
  const ready = await readyAgent(session, request, at);
  if (typeof ready === 'string') return async () => withoutCopy(session, request, ready);
  const { id, file, work } = ready;
  return async () => {
    const ran = await work();
    // It may have been stopped since it ended.
    const run: FinishedAgent = at.signal.aborted ? { ...ran, end: { kind: 'aborted' } } : ran;
    const collected = await session.workspace.collect(String(id), at.copy);
    warnOf(session, cause.id, collected);
    const { files, patch } = collected.change ? await keepPatch(session, collected.change, file) : nothing;
    announceAgentEnd(session, request, { ...run, filesChanged: files.length });
    const attempt: PendingAttempt = {
      ...createAttempt(n),
      ...namesOf(session, request),
      exit: run.end.kind,
      claim: run.claim,
      usage: run.usage,
      durationMs: run.durationMs,
      files,
      patch,
      prompt: relativePath(session.folder.dir, `${file}.prompt.md`),
      change: collected.change?.id ?? null,
    };
    return { pending: attempt, work: collected, ...describeAgentEnd(at.signal, run, collected) };
  };
}

/** Without a copy no agent can work; what prevents it (such as a full disk) is for a person to fix. */
function withoutCopy(session: Session, request: DeployRequest, reason: string): Deployment {
  const pending = { ...createAttempt(request.n), ...namesOf(session, request) };
  const because = `Could not copy the project for the agent: ${reason}`;
  return {
    pending,
    work: null,
    end: { kind: 'unusable', because, remedy: 'Run npx self-heal doctor.' },
    because: null,
  };
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
      `its agent changed only files that git ignores, and these cannot be part of a fix: ${listed(ignored)}`,
    );
  if (changedInProject.length > 0)
    warn(
      `while its agent worked in its copy, these files of the project itself changed: ${listed(changedInProject)}. If neither you nor the tests changed them, the agent did. They are not part of its fix, are not judged, and are not reverted.`,
    );
}

function listed(files: readonly string[]): string {
  const more = files.length > PATHS_SHOWN ? ` and ${files.length - PATHS_SHOWN} more` : '';
  return `${files.slice(0, PATHS_SHOWN).join(', ')}${more}`;
}

/** Writes the patch as people, prompts and reports see it. */
export async function keepPatch(session: Session, change: Change, file: string) {
  const contents = openContents(session.folder.dir);
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
function describeAgentEnd(
  signal: AbortSignal,
  { end, claim, denials }: FinishedAgent,
  { change, refused }: Work,
): Pick<Deployment, 'end' | 'because' | 'isDenied'> {
  const says = (because: string | null, isDenied = false) => ({
    end: refused === null ? null : ({ kind: 'refused', because: refused } as const),
    because,
    isDenied,
  });
  switch (end.kind) {
    case 'completed': {
      if (change !== null) return says(null);
      // An agent that says that it made no fix has answered, whatever it was denied on the way.
      if (denials.length > 0 && (claim === null || claim.status === 'fixed'))
        return says(
          `its program denied it ${[...new Set(denials)].join(', ')}, and no files were changed`,
          refused === null,
        );
      return says(`the agent ${claim ? `said "${claim.status}" and ` : ''}changed no files`);
    }
    case 'exited':
      return says(`the agent exited with code ${end.exitCode}`);
    case 'signalled':
      return says(`the agent was killed by ${end.signal}`);
    case 'timed-out':
      return says(`the agent did not finish within ${Math.round(end.afterMs / 1000)} s`);
    case 'spawn-failed':
      return says(`the agent could not be started: ${end.reason}`);
    case 'limited':
      return says(`the agent reached its own limit: ${end.reason}`);
    case 'aborted': {
      const because = typeof signal.reason === 'string' ? signal.reason : 'interrupted';
      return { end: { kind: 'interrupted', because }, because: null };
    }
    case 'unusable': {
      const { reason: because, remedy } = end;
      return { end: { kind: 'unusable', because, remedy }, because: null };
    }
    default:
      return unreachable(end);
  }
}

/** Turns edits that no agent made here into a deployment like an agent's, which has no work if no fix may write one of their files. */
export async function deployEdits(
  session: Session,
  pending: PendingAttempt,
  edits: readonly FileEdit[],
): Promise<Deployment> {
  const paths = edits.map((edit) => edit.path);
  const [unwritable] = await findUnwritable(session.workspace.root, paths);
  if (unwritable !== undefined) {
    const because = `no fix may write ${unwritable}, which git ignores or another repository has`;
    return { pending, work: null, end: null, because };
  }
  const id = session.spending.nextAttempt();
  const work = session.workspace.createWork(String(id), edits);
  const kept = await keepPatch(session, work.change, await session.folder.attempt(id));
  return { pending: { ...pending, ...kept, change: work.change.id }, work, end: null, because: null };
}
