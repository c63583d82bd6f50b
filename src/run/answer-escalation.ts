import path from 'node:path';
import { sides, type Choice } from '../model/choice.js';
import type { Answer, Escalation } from '../model/escalation.js';
import { matchId } from './find-run.js';
import type { Problem } from '../problem.js';
import { appendEvent, eventsFile } from './event-log.js';
import { hasState } from '../state-folder.js';
import { lockProject, type ProjectLock } from './project-lock.js';
import { isRunId, runDirOf } from './run-folder.js';
import { err, ok, type Result } from '../result.js';
import { createRedactor } from '../secrets/redactor.js';
import type { Store } from '../store/store.js';

/** An answer as entered by the user. */
export interface TypedAnswer {
  readonly choice?: Choice | undefined;
  readonly guidance?: string | undefined;
  /** What the next agent may change besides the app. */
  readonly allow?: 'tests' | undefined;
}

/** A question with its answer, which is stored. */
export interface AnsweredEscalation {
  readonly escalation: Escalation;
  /** The project's lock, for the run that applies the chosen patch; the caller ends it. Null for any other answer. */
  readonly lock: ProjectLock | null;
}

/** Whether an answer chooses a patch, which is then applied and proven. */
export function choosesPatch({ choice }: Pick<Escalation, 'choice'>): boolean {
  return sides.some((side) => side === choice);
}

/**
 * Stores an answer, with secrets masked, and adds it to the events of the run that asked (ME-7, ME-11). A choice of a patch takes the project's
 * lock first: while another run holds it, nothing is stored, since the patch could not be applied.
 */
export async function answerEscalation(
  store: Store,
  id: string,
  answer: Answer,
): Promise<Result<AnsweredEscalation, Problem>> {
  const locked = choosesPatch(answer) ? await lockForPatch() : ok(null);
  if (!locked.ok) return locked;
  const lock = locked.value;
  let isStored = false;
  try {
    const redactor = await createRedactor({ env: process.env, projectRoot: process.cwd() });
    const resolved = await store.resolve(id, redactor.deep(answer));
    if (!resolved) return err(noSuchEscalation(id));
    appendAnswer(resolved, answer.choice);
    isStored = true;
    return ok({ escalation: resolved, lock });
  } finally {
    if (!isStored) lock?.[Symbol.dispose]();
  }
}

async function lockForPatch(): Promise<Result<ProjectLock, Problem>> {
  const locked = await lockProject(process.cwd(), { command: 'escalations resolve', wait: false });
  if (locked.ok || locked.error.kind !== 'project-locked') return locked;
  return err({ ...locked.error, remedy: 'The question stays open: answer it again once that has ended.' });
}

/** Checks that an answer is one of the choices that were offered. */
export function checkedAnswer(
  escalation: Escalation,
  { choice, guidance, allow }: TypedAnswer,
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
      message: 'the choice guide needs guidance',
      remedy: 'Add --guidance "what is right, or where to look".',
    });
  }
  if (allow && choice !== 'guide') {
    return err({
      kind: 'usage',
      message: `only an agent with guidance can be allowed to change the tests, and the choice is ${choice}`,
      remedy: 'Choose guide, or leave out --allow.',
    });
  }
  return ok({ choice, guidance: guidance ?? null, allows: allow });
}

/** Finds the question with this id or id prefix; no match or several matches are a `Problem`. */
export async function escalationOf(store: Store | null, word: string): Promise<Result<Escalation, Problem>> {
  const all = (await store?.escalations(null)) ?? [];
  const { remedy } = noSuchEscalation(word);
  const id = matchId(word, { noun: 'escalation', ids: all.map((escalation) => escalation.id), remedy });
  if (!id.ok) return id;
  const match = all.find((escalation) => escalation.id === id.value);
  return match ? ok(match) : err(noSuchEscalation(word));
}

/** The problem of an id that names no question. */
export function noSuchEscalation(word: string): Problem {
  const remedy = 'Run `self-heal escalations list --all` to list them.';
  return { kind: 'usage', message: `there is no escalation ${word}`, remedy };
}

/** Adds the answer to the events of the run that asked, if its folder still exists. */
function appendAnswer({ runId, id }: Escalation, choice: Choice): void {
  // The store may be another machine's.
  if (!isRunId(runId)) return;
  const dir = runDirOf(process.cwd(), runId);
  if (!hasState(path.join(dir, eventsFile))) return;
  appendEvent(dir, { type: 'agent.escalation_resolved', escalationId: id, choice });
}
