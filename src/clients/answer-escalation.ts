import path from 'node:path';
import { applyChosenPatch } from '../commands.js';
import { type HostOptions, runHosted } from '../command/hosted-run.js';
import type { Command } from '../command/run.js';
import { checkRequest, type RunRequest } from '../command/run-request.js';
import { sides, type Choice } from '../model/choice.js';
import type { Answer, Escalation } from '../model/escalation.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { appendEvent, eventsFile, readRunState } from '../run/event-log.js';
import { matchId } from '../run/find-run.js';
import { listRerunIdsOfRun } from './inspect/last-red.js';
import { lockProject, type ProjectLock } from '../run/project-lock.js';
import { type EscalationWithPatches, addPatchTexts } from '../run/read-patch.js';
import type { Report } from '../run/report.js';
import { isRunId, findRunDir } from '../run/run-folder.js';
import { closeSettledQuestions } from '../run/settled-questions.js';
import { createRedactor } from '../secrets/redactor.js';
import { hasStateFile } from '../state-folder.js';
import type { Store } from '../store/store.js';
import type { StoreFlags } from '../store/with-store.js';
import { dropUndefined } from '../without-undefined.js';

/** The flags that all commands of `self-heal escalations` share. */
export interface EscalationFlags extends StoreFlags {
  readonly json?: boolean | undefined;
}

/** An answer as entered by the user. */
export interface TypedAnswer {
  readonly choice?: Choice | undefined;
  readonly guidance?: string | undefined;
  /** The files that the next agent may change, in addition to the app. */
  readonly allow?: 'tests' | undefined;
  /** How long a quarantine lasts. */
  readonly days?: number | undefined;
}

/** An escalation whose answer is stored. */
export interface AnsweredQuestion {
  readonly escalation: Escalation;
  /** Applies the chosen patch and proves it on the tests of the escalation, without an agent; null if the answer chose no patch. */
  readonly proof: ProofOfChoice | null;
}

interface ProofOfChoice {
  /** Includes the project's lock, which the caller releases. */
  readonly request: RunRequest & { readonly lock: ProjectLock };
  readonly command: Command;
}

/** Checks and stores an answer (ME-7). Stores nothing if a patch was chosen and the run that applies it could not start. */
export async function recordAnswer(
  store: Store,
  escalation: Escalation,
  typed: TypedAnswer,
  flags: EscalationFlags,
): Promise<Result<AnsweredQuestion, Problem>> {
  const answer = checkAnswer(escalation, typed);
  if (!answer.ok) return answer;
  const request = choosesPatch(answer.value) ? await createProofRequest(escalation, flags) : ok(null);
  if (!request.ok) return request;
  const saved = await answerEscalation(store, escalation.id, answer.value);
  if (!saved.ok) return saved;
  const { lock, escalation: resolved } = saved.value;
  const ids = isRunId(escalation.runId)
    ? await listRerunIdsOfRun(process.cwd(), escalation)
    : escalation.tests.map(({ id }) => id);
  const command = applyChosenPatch(ids);
  const proof = lock && request.value && { request: { ...request.value, lock }, command };
  return ok({ escalation: resolved, proof });
}

/** Creates the request for the run that proves a chosen patch, from these flags and the request of the run that asked the question. */
async function createProofRequest(
  { runId }: Pick<Escalation, 'runId'>,
  { agents, store, json = false }: EscalationFlags,
): Promise<Result<RunRequest, Problem>> {
  const cwd = process.cwd();
  const run = isRunId(runId) ? await readRunState(findRunDir(cwd, runId)) : null;
  const { parseStoredRequest } = await import('../command/stored-request.js');
  // If that run's folder is gone, so is its patch; the new run reports that.
  const stored = run?.request ? await parseStoredRequest(run, cwd) : ok(null);
  if (!stored.ok) return stored;
  const { filters = [], passThrough = [], options = {} } = stored.value ?? {};
  const request: RunRequest = {
    cwd,
    env: process.env,
    name: 'escalations',
    filters,
    passThrough,
    options: { ...options, ...dropUndefined({ agents, store, json }) },
  };
  const checked = await checkRequest(request);
  return checked.ok ? ok(request) : checked;
}

/** Proves the chosen patch inside another program; null if the answer chose no patch. */
export async function proveChosenPatch(
  { proof }: AnsweredQuestion,
  hosting: HostOptions,
): Promise<Result<Report, Problem> | null> {
  if (!proof) return null;
  using lock = proof.request.lock;
  return await runHosted({ ...proof.request, lock }, proof.command, hosting);
}

/** Returns the escalations that wait for an answer, newest first, with their patches. */
export async function listPendingEscalations(store: Store | null): Promise<readonly EscalationWithPatches[]> {
  if (store) await closeSettledQuestions(store, process.cwd());
  const pending = (await store?.listEscalations('pending')) ?? [];
  return Promise.all(pending.map(readPatchTexts));
}

/** Reads the patches of an escalation of the project in the current folder, with secrets masked. */
export async function readPatchTexts(escalation: Escalation): Promise<EscalationWithPatches> {
  const projectRoot = process.cwd();
  return addPatchTexts(projectRoot, escalation, await createRedactor({ env: process.env, projectRoot }));
}

function choosesPatch({ choice }: Pick<Escalation, 'choice'>): boolean {
  return sides.some((side) => side === choice);
}

interface StoredAnswer {
  readonly escalation: Escalation;
  /** The project's lock for the run that applies the chosen patch; the caller releases it. Null for any other answer. */
  readonly lock: ProjectLock | null;
}

/**
 * Stores an answer, with secrets masked, and adds it to the events of the run that asked the question (ME-7, ME-11). If a patch was chosen, locks the
 * project first; if another run holds the lock, stores nothing, because the patch could not be applied.
 */
export async function answerEscalation(
  store: Store,
  id: string,
  answer: Answer,
): Promise<Result<StoredAnswer, Problem>> {
  const locked = choosesPatch(answer) ? await lockProjectForPatch() : ok(null);
  if (!locked.ok) return locked;
  const lock = locked.value;
  let isStored = false;
  try {
    const redactor = await createRedactor({ env: process.env, projectRoot: process.cwd() });
    const resolved = await store.answerEscalation(id, redactor.deep(answer));
    if (!resolved) return err(createNoSuchEscalationProblem(id));
    appendAnswer(resolved, answer.choice);
    isStored = true;
    return ok({ escalation: resolved, lock });
  } finally {
    if (!isStored) lock?.[Symbol.dispose]();
  }
}

async function lockProjectForPatch(): Promise<Result<ProjectLock, Problem>> {
  const locked = await lockProject(process.cwd(), { command: 'escalations resolve', wait: false });
  if (locked.ok || locked.error.kind !== 'project-locked') return locked;
  return err({
    ...locked.error,
    remedy: 'The question stays open: answer it again when that run has ended.',
  });
}

/** Checks that an answer is one of the offered choices. */
function checkAnswer(
  escalation: Escalation,
  { choice, guidance, allow, days }: TypedAnswer,
): Result<Answer, Problem> {
  if (!choice || !escalation.choices.includes(choice)) {
    return err({
      kind: 'usage',
      message: choice
        ? `escalation ${escalation.id} has no choice ${choice}`
        : `escalation ${escalation.id} needs an answer, but there is no terminal to prompt on`,
      remedy: `Answer with: self-heal escalations resolve ${escalation.id} --choice ${escalation.choices.join(' | ')}${escalation.choices.includes('guide') ? ', with --guidance "…" for guide' : ''}`,
    });
  }
  if (choice === 'guide' && !guidance?.trim()) {
    return err({
      kind: 'usage',
      message: 'the choice "guide" needs guidance',
      remedy: 'Add --guidance "…" with advice for the next agent.',
    });
  }
  if (allow && choice !== 'guide') {
    return err({
      kind: 'usage',
      message: `only an agent with guidance can be allowed to change the tests, and the choice is ${choice}`,
      remedy: 'Choose guide, or omit --allow.',
    });
  }
  return ok({ choice, guidance: guidance ?? null, allows: allow, days });
}

/** Finds the escalation with this id or id prefix; no match or several matches are a `Problem`. */
export async function findEscalation(
  store: Store | null,
  word: string,
): Promise<Result<Escalation, Problem>> {
  const all = (await store?.listEscalations(null)) ?? [];
  const { remedy } = createNoSuchEscalationProblem(word);
  const id = matchId(word, { noun: 'escalation', ids: all.map((escalation) => escalation.id), remedy });
  if (!id.ok) return id;
  const match = all.find((escalation) => escalation.id === id.value);
  return match ? ok(match) : err(createNoSuchEscalationProblem(word));
}

export function createNoSuchEscalationProblem(word: string): Problem {
  const remedy = 'Run `self-heal escalations list --all` to list them.';
  return { kind: 'usage', message: `there is no escalation ${word}`, remedy };
}

/** Adds the answer to the events of the run that asked the question, if its folder still exists. */
function appendAnswer({ runId, id }: Escalation, choice: Choice): void {
  // Other machines may write to the store, so the id is untrusted.
  if (!isRunId(runId)) return;
  const dir = findRunDir(process.cwd(), runId);
  if (!hasStateFile(path.join(dir, eventsFile))) return;
  appendEvent(dir, { type: 'agent.escalation_resolved', escalationId: id, choice });
}
