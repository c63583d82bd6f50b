import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { choices, choiceText } from '../../model/choice.js';
import { type Escalation } from '../../model/escalation.js';
import { localDay } from '../../format.js';
import { html, type Markup } from '../../outputs/html/markup.js';
import { renderOffers } from '../../outputs/html/diff.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import type { EscalationWithPatches } from '../../run/read-patch.js';
import type { Store } from '../../store/store.js';
import { type StoreFlags, withStore } from '../../store/with-store.js';
import {
  recordAnswer,
  findEscalation,
  listPendingEscalations,
  type TypedAnswer,
} from '../answer-escalation.js';

/** The escalations of a project, as the page lists and answers them. */
export interface PageEscalations {
  /** Returns the pending escalations, newest first. */
  listPending(): Promise<Result<readonly EscalationWithPatches[], Problem>>;
  /** Answers an escalation, and returns its new state. */
  answer(id: string, typed: TypedAnswer): Promise<Result<Escalation, Problem>>;
}

const BODY_BYTES = 64 * 1024;

const answerShape = z.strictObject({
  choice: z.enum(choices),
  guidance: z.string().max(20_000).optional(),
  allow: z.literal('tests').optional(),
});

/** `GET /` returns the pending escalations as forms; `POST /<id>` answers one (ME-7). An error response is a text to show. */
export function createEscalationRoutes(escalations: PageEscalations): Hono {
  const routes = new Hono();
  routes.get('/', async (c) => {
    const open = await escalations.listPending();
    return open.ok ? c.html(String(renderQuestions(open.value))) : respondWithProblem(c, open.error);
  });
  routes.post('/:id', bodyLimit({ maxSize: BODY_BYTES }), async (c) => {
    const answer = answerShape.safeParse(await c.req.json().catch(() => null));
    if (!answer.success) return respondWithProblem(c, badAnswer);
    const { choice, guidance, allow } = answer.data;
    const answered = await escalations.answer(c.req.param('id'), {
      choice,
      guidance: guidance || undefined,
      allow,
    });
    return answered.ok ? c.body(null, 204) : respondWithProblem(c, answered.error);
  });
  return routes;
}

const badAnswer: Problem = {
  kind: 'usage',
  message: 'The answer is invalid',
  remedy: 'Send {"choice": …, "guidance": …} as JSON.',
};

/** Responds with a problem without its detail, which is only for the person at the terminal. */
function respondWithProblem(c: Context, { kind, message, remedy }: Problem) {
  return c.text(`${message}. ${remedy}`, kind === 'usage' ? 400 : kind === 'project-locked' ? 409 : 500);
}

export function renderQuestions(escalations: readonly EscalationWithPatches[]): Markup {
  return html`${escalations.map(renderQuestion)}`;
}

/** The maximum number of lines of a patch in a form. */
const MAX_LINES = 120;

function renderQuestion(escalation: EscalationWithPatches): Markup {
  const { id, problem, tests, tried, recommendation, createdAt, choices, offers } = escalation;
  const names = tests.length > 0 ? tests.map(({ name }) => name) : ['the suite itself'];
  return html`<article class="card question" id="question-${id}" aria-labelledby="${id}-heading">
    <h3 id="${id}-heading"><span class="id">${id}</span> ${problem}</h3>
    <p class="quiet">${names.slice(0, 3).join('; ')}, asked on ${localDay(createdAt)}</p>
    ${
      tried.length > 0
        ? html`<ol aria-label="Tried">
            ${tried.map((attempt) => html`<li>${attempt}</li>`)}
          </ol>`
        : ''
    }
    <p><strong>Recommended: </strong>${recommendation}</p>
    ${renderOffers(offers, MAX_LINES)}
    <form novalidate data-question="${id}">
      <fieldset>
        <legend>What should be done?</legend>
        ${choices.map(
          (choice) =>
            html`<p class="choice">
              <input type="radio" name="choice" value="${choice}" id="${id}-${choice}" />
              <label for="${id}-${choice}">${choiceText[choice]}</label>
            </p>`,
        )}
      </fieldset>
      <label for="${id}-guidance">Guidance for the next agent</label>
      <textarea id="${id}-guidance" rows="3" aria-describedby="${id}-hint"></textarea>
      <p class="quiet" id="${id}-hint">
        This text goes into the next prompt unchanged. Do not enter passwords.
      </p>
      <p class="choice">
        <input type="checkbox" name="allow" value="tests" id="${id}-allow" />
        <label for="${id}-allow">With guidance: the agent may change the tests of this failure</label>
      </p>
      <p role="alert" class="problem"></p>
      <button type="submit">Answer</button>
    </form>
  </article>`;
}

/**
 * Opens the escalations of the project in the current folder. Opens the store for each request: an open page must not block a run, and a run may create
 * the store later.
 */
export function openProjectEscalations(flags: StoreFlags): PageEscalations {
  const withProjectStore = async <T>(task: (store: Store | null) => Promise<Result<T, Problem>>) => {
    const result = await withStore(flags, task);
    return 'ok' in result ? result : err(result);
  };
  return {
    listPending: () => withProjectStore(async (store) => ok(await listPendingEscalations(store))),
    answer: (id, typed) =>
      withProjectStore(async (store) => {
        const stored = await findEscalation(store, id);
        if (store === null || !stored.ok) return stored;
        // Somebody may have answered it since the page was drawn.
        if (stored.value.state !== 'pending') return err(createAlreadyAnsweredProblem(stored.value));
        const answered = await recordAnswer(store, stored.value, typed, flags);
        if (!answered.ok) return answered;
        const { escalation, proof } = answered.value;
        // Releases the lock, because the next run applies a chosen patch.
        proof?.request.lock[Symbol.dispose]();
        return ok(escalation);
      }),
  };
}

function createAlreadyAnsweredProblem({ id, choice }: Escalation): Problem {
  return {
    kind: 'usage',
    message: `Escalation ${id} has already been answered: ${choice}`,
    remedy: 'Change the answer with self-heal escalations resolve.',
  };
}
