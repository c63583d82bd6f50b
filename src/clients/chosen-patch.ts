import { applyChosen } from '../commands.js';
import type { Command } from '../command/run.js';
import { checkRequest, type RunRequest } from '../command/run-request.js';
import type { Escalation } from '../model/escalation.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';
import {
  type AnsweredEscalation,
  answerEscalation,
  checkedAnswer,
  choosesPatch,
  type TypedAnswer,
} from '../run/answer-escalation.js';
import { readRunState } from '../run/event-log.js';
import { type EscalationWithPatches, withPatches } from '../run/read-patch.js';
import { isRunId, runDirOf } from '../run/run-folder.js';
import { createRedactor } from '../secrets/redactor.js';
import type { Store } from '../store/store.js';
import type { StoreFlags } from '../store/with-store.js';
import { withoutUndefined } from '../without-undefined.js';

/** The flags that a command passes on. */
export interface Flags extends StoreFlags {
  readonly json?: boolean | undefined;
}

/** An answer that is stored, and the run that applies its patch and proves it; null if it chose no patch. */
export interface Decision extends AnsweredEscalation {
  readonly request: RunRequest | null;
}

/** Reads the patches that are ready, for whoever decides. */
export async function withPatchTexts(escalation: Escalation): Promise<EscalationWithPatches> {
  const projectRoot = process.cwd();
  return withPatches(projectRoot, escalation, await createRedactor({ env: process.env, projectRoot }));
}

/** Checks and stores an answer (ME-7). Nothing is stored if the run that a chosen patch needs could not start. */
export async function decide(
  store: Store,
  escalation: Escalation,
  { days, ...typed }: TypedAnswer & { readonly days?: number | undefined },
  flags: Flags,
): Promise<Result<Decision, Problem>> {
  const answer = checkedAnswer(escalation, typed);
  if (!answer.ok) return answer;
  const request = choosesPatch(answer.value) ? await chosenRequest(escalation, flags) : ok(null);
  if (!request.ok) return request;
  const answered = await answerEscalation(store, escalation.id, { ...answer.value, days });
  return answered.ok ? ok({ ...answered.value, request: request.value }) : answered;
}

/** Returns the run that applies and proves the patch that a person chooses, or the problem that keeps it from starting. */
async function chosenRequest(
  { runId }: Pick<Escalation, 'runId'>,
  { agents, store, json = false }: Flags,
): Promise<Result<RunRequest, Problem>> {
  const cwd = process.cwd();
  const run = isRunId(runId) ? await readRunState(runDirOf(cwd, runId)) : null;
  const { askedOf } = await import('../heal/asked.js');
  // A run whose folder is gone has no patch, either, and the new run says that.
  const typed = run?.request ? await askedOf(run, cwd) : ok(null);
  if (!typed.ok) return typed;
  const { filters = [], passThrough = [], options = {} } = typed.value ?? {};
  const request: RunRequest = {
    cwd,
    env: process.env,
    name: 'escalations',
    filters,
    passThrough,
    options: { ...options, ...withoutUndefined({ agents, store, json }) },
  };
  const checked = await checkRequest(request);
  return checked.ok ? ok(request) : checked;
}

/** Returns the command of that run. */
export function chosenCommand({ tests }: Pick<Escalation, 'tests'>): Command {
  return applyChosen(tests.map(({ id }) => id));
}
