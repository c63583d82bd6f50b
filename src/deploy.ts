import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { troubleOfEnding } from './core/agent-trouble/trouble-of-ending.js';
import type { Attempt, FileChange } from './core/attempt.js';
import { unreachable } from './core/unreachable.js';
import { runWithRestarts, type SettledRun } from './restart-agent.js';
import type { Redactor } from './secrets/redactor.js';
import { sessionOf, startAgent, type DeployRequest } from './start-agent.js';
import type { Session } from './session.js';
import type { Checkpoint } from './workspace/workspace.js';

/** One agent's work, not yet judged, with the states of the tree around it. */
export interface Deployment {
  readonly attempt: Attempt;
  readonly before: Checkpoint | null;
  readonly after: Checkpoint | null;
}

/** Runs one agent on a cause, between two checkpoints of the tree. */
export async function deploy(session: Session, request: DeployRequest): Promise<Deployment> {
  const before = (await session.workspace?.checkpoint()) ?? null;
  await session.running.opened(before);
  session.spending.agentStarted(request.cause);
  const file = await session.folder.attempt(session.spending.totals().agentRuns);
  const run = await runWithRestarts(session, {
    cause: request.cause,
    n: request.n,
    runner: session.settings.agents[request.agent]?.runner ?? '',
    resume: sessionOf(session, request),
    start: (start) => startAgent(session, request, { ...start, file }),
  });
  await nameStrays(session, request.cause.id);
  const after = (await session.workspace?.checkpoint()) ?? null;
  await session.running.changed(before, after);
  const files = before && after && session.workspace ? await session.workspace.changes(before, after) : [];
  const patch = files.length > 0 ? await keepPatch(session, { before, after, file }) : null;
  const prompt = inRunFolder(session, `${file}.prompt.md`);
  const checkpoints = before && after ? { before, after } : null;
  const attempt = attemptOf({ session, request, run, files, patch, prompt, checkpoints });
  session.spending.attemptEnded(attempt);
  announceEnd(session, request, { attempt, run });
  return { attempt, before, after };
}

const STRAYS_SHOWN = 5;

/** What no checkpoint holds is not judged, not in the patch, and not taken back: then that is said. */
async function nameStrays({ workspace, bus }: Session, causeId: string): Promise<void> {
  const strays = (await workspace?.strayChanges?.()) ?? [];
  if (strays.length === 0) return;
  const shown = strays.slice(0, STRAYS_SHOWN).join(', ');
  const more = strays.length > STRAYS_SHOWN ? ` and ${strays.length - STRAYS_SHOWN} more` : '';
  const message = `${causeId}: while its agent worked, files were written that git ignores, which are no part of its fix and are not taken back: ${shown}${more}`;
  bus.emit({ type: 'run.warning', message });
}

interface PatchRequest {
  before: Checkpoint | null;
  after: Checkpoint | null;
  file: string;
}

async function keepPatch(session: Session, { before, after, file }: PatchRequest): Promise<string | null> {
  if (!session.workspace || !before || !after) return null;
  const exact = await session.workspace.patch(before, after);
  await writeFile(`${file}.patch`, shownPatch(exact, session.redactor));
  return inRunFolder(session, `${file}.patch`);
}

function inRunFolder(session: Session, file: string): string {
  return path.relative(session.folder.dir, file).replaceAll(path.sep, '/');
}

/**
 * The patch as people, prompts and reports see it. One without secrets stays byte for byte what `git apply` takes; of one
 * with secrets the exact bytes are in the private store alone, from which changes are taken back.
 */
function shownPatch(exact: Uint8Array, redactor: Redactor): Uint8Array | string {
  const text = Buffer.from(exact).toString('utf8');
  const masked = redactor.text(text);
  return masked === text ? exact : masked;
}

interface Ended {
  session: Session;
  request: DeployRequest;
  run: SettledRun;
  files: readonly FileChange[];
  patch: string | null;
  prompt: string;
  checkpoints: Attempt['checkpoints'];
}

function attemptOf({ session, request, run, files, patch, prompt, checkpoints }: Ended): Attempt {
  const agent = session.settings.agents[request.agent];
  const outcome = outcomeOf(run, files, session.workspace !== null);
  return {
    n: request.n,
    agent: request.agent,
    slashCommand: agent?.slashCommand ?? null,
    runner: agent?.runner ?? null,
    outcome,
    claim: run.claim,
    usage: run.usage,
    judged: 'not-judged',
    durationMs: run.durationMs,
    files,
    patch,
    prompt,
    checkpoints,
    proof: [],
    takenBack: false,
    failedBecause: troubleOf(run, outcome),
  };
}

/** Joins how the process ended with what happened to the files (AG-8); blind to files, an agent has the benefit of the doubt. */
function outcomeOf(run: SettledRun, files: readonly FileChange[], sawFiles: boolean): Attempt['outcome'] {
  if (run.ending.kind !== 'completed' || files.length > 0 || !sawFiles) return run.ending.kind;
  return run.denials.length > 0 ? 'denied' : 'unchanged';
}

function troubleOf({ ending, claim }: SettledRun, outcome: Attempt['outcome']): string | null {
  switch (ending.kind) {
    case 'completed':
      if (outcome === 'denied') return 'every tool call was denied and no file changed';
      if (outcome === 'unchanged')
        return `the agent changed no file${claim ? ` (it said: ${claim.status})` : ''}`;
      return null;
    case 'exited':
      return `the agent exited with code ${ending.exitCode}`;
    case 'signalled':
      return `the agent was ended by ${ending.signal}`;
    case 'timed-out':
      return `the agent did not finish within ${Math.round(ending.afterMs / 1000)} s`;
    case 'spawn-failed':
      return `the agent could not be started: ${ending.reason}`;
    case 'aborted':
      return 'interrupted';
    case 'limited':
      return `the agent met its own limit: ${ending.reason}`;
    case 'unusable':
      return `${ending.reason}. ${ending.remedy}`;
    default:
      return unreachable(ending);
  }
}

function announceEnd(
  session: Session,
  request: DeployRequest,
  ended: { attempt: Attempt; run: SettledRun },
): void {
  session.bus.emit({
    type: 'agent.ended',
    causeId: request.cause.id,
    attempt: request.n,
    outcome: ended.attempt.outcome,
    durationMs: ended.run.durationMs,
    costUsd: ended.run.usage.costUsd,
    trouble: troubleOfEnding(ended.run.ending),
    filesChanged: ended.attempt.files.length,
    leftovers: ended.run.leftovers,
  });
}
