import path from 'node:path';
import { buildContext } from '../../agents/build-context.js';
import { expandPrompt } from '../../agents/expand-command.js';
import { renderPrompt } from '../../agents/prompt.js';
import { listAgentsForFailure } from '../../heal/policy.js';
import { isBuiltIn } from '../../model/built-in.js';
import type { Cause } from '../../model/cause.js';
import type { Settings } from '../../model/settings.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { findPlaywright } from '../../playwright/find-playwright.js';
import { readStateFile } from '../../state-folder.js';
import type { Redactor } from '../../secrets/redactor.js';
import { listFailures, type InspectedFailure } from './find-failure.js';
import type { StoredRun } from '../../run/find-run.js';

export interface PromptText {
  readonly text: string;
  /** `as sent to /debugger in attempt 2`, or a note that it was not sent. */
  readonly note: string;
}

export interface PromptRequest {
  readonly run: StoredRun;
  readonly inspected: InspectedFailure;
  /** The requested attempt, or null for the last one. */
  readonly attempt: number | null;
  readonly settings: Settings;
  readonly projectRoot: string;
  /** Masks the text of a slash command's file, which may contain a secret. The run's own files are already masked. */
  readonly redactor: Redactor;
}

/**
 * Returns the prompt that an agent received for a failure, unchanged except for masked secrets that only this machine knows. If no agent received one,
 * returns the prompt that the first agent of its route would get.
 */
export async function readPrompt(request: PromptRequest): Promise<Result<PromptText, Problem>> {
  const { inspected, attempt } = request;
  const prompted = (inspected.cause?.attempts ?? []).filter(({ prompt }) => prompt);
  const chosen = attempt === null ? prompted.at(-1) : prompted.find(({ n }) => n === attempt);
  if (chosen?.prompt)
    return readSentPrompt(request, chosen.prompt, `as sent to ${chosen.slashCommand} in attempt ${chosen.n}`);
  if (attempt !== null)
    return err(
      createNoSuchAttemptProblem(
        attempt,
        prompted.map(({ n }) => n),
      ),
    );
  return createUnsentPrompt(request);
}

async function readSentPrompt(
  { run, redactor }: PromptRequest,
  file: string,
  note: string,
): Promise<Result<PromptText, Problem>> {
  const full = path.join(run.dir, file);
  const text = readStateFile(full);
  if (text !== null) return ok({ text: redactor.clean(text.toString()), note });
  return err({
    kind: 'input-unreadable',
    message: `${full} cannot be read`,
    remedy:
      'The run stored the prompt there, but the file no longer exists. Name another attempt with --attempt.',
  });
}

async function createUnsentPrompt(request: PromptRequest): Promise<Result<PromptText, Problem>> {
  const { run, inspected, settings, projectRoot, redactor } = request;
  const clean = (text: string) => redactor.clean(text);
  const { failure } = inspected;
  const agent = settings.agents[listAgentsForFailure(failure, settings.routes)[0] ?? ''];
  if (!agent) return err(noAgent);
  const playwright = findPlaywright(projectRoot);
  const built = await buildContext({
    settings,
    root: projectRoot,
    runId: run.runId,
    runDir: run.dir,
    playwright: playwright.ok ? playwright.value.version : '',
    cause: restoreCause(request),
    attempt: 1,
    previousAttempts: [],
    guidance: null,
    mayChangeTests: false,
    earlierFix: null,
    clean,
  });
  const context = redactor.deep(built);
  const contextFile = path.join(run.dir, 'failures', String(failure.n), 'context.json');
  const { slashCommand } = agent;
  const isPasted = isBuiltIn(agent);
  const rendered = renderPrompt(context, { slashCommand, contextFile, isPasted });
  return ok({
    text: await expandPrompt(settings.runners[agent.runner], rendered, { cwd: projectRoot, clean }),
    note: isPasted
      ? 'no agent program is set up; paste this prompt into any agent'
      : `not sent yet; this is the prompt that ${slashCommand} (${agent.runner}) would get`,
  });
}

/** Restores the cause of a failure with its other failures and the blamed change. */
function restoreCause({ run, inspected }: PromptRequest): Cause {
  const { cause, failure } = inspected;
  const members = listFailures(run).filter((other) => cause !== null && other.cause?.id === cause.id);
  return {
    id: cause?.id ?? 'c0',
    lead: failure,
    members: [failure, ...members.map((other) => other.failure).filter(({ n }) => n !== failure.n)],
    parent: null,
    environment: null,
    ...(cause?.blame ? { blame: cause.blame } : {}),
  };
}

const noAgent: Problem = {
  kind: 'usage',
  message: 'no agent works on this failure; a person has to look at it',
  remedy:
    'Omit --prompt to see its evidence. `routes` in agents.yaml names the agents of each class; no agent works on a test file that does not compile.',
};

function createNoSuchAttemptProblem(attempt: number, attempts: readonly number[]): Problem {
  return {
    kind: 'usage',
    message: `no agent was started in attempt ${attempt} of this failure`,
    remedy:
      attempts.length > 0
        ? `Name one of these attempts: ${attempts.join(', ')}.`
        : 'Omit --attempt to see the prompt that an agent would get.',
  };
}
