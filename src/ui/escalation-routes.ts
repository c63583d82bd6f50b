import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { choiceText, type Choice, type Escalation } from '../core/escalation.js';
import type { Problem } from '../problem.js';
import type { TypedAnswer } from '../run/answer-escalation.js';
import type { ShownEscalation } from '../run/read-patch.js';
import type { Result } from '../result.js';
import { showQuestions } from './show-questions.js';

/** What the page needs for escalations; `self-heal escalations` does the same on the command line. */
export interface EscalationDesk {
  /** Returns the pending escalations, newest first. */
  pending(): Promise<Result<readonly ShownEscalation[], Problem>>;
  /** Answers an escalation, and returns its new state. */
  answer(id: string, given: TypedAnswer): Promise<Result<Escalation, Problem>>;
}

const BODY_BYTES = 64 * 1024;

const answerShape = z.strictObject({
  choice: z.enum(Object.keys(choiceText) as [Choice, ...Choice[]]),
  guidance: z.string().max(20_000).optional(),
  allow: z.literal('tests').optional(),
});

/** `GET /` returns the pending escalations as forms; `POST /<id>` answers one (ME-7). A refusal is a text to show. */
export function escalationRoutes(desk: EscalationDesk): Hono {
  const routes = new Hono();
  routes.get('/', async (c) => {
    const open = await desk.pending();
    return open.ok ? c.html(String(showQuestions(open.value))) : refusal(c, open.error);
  });
  routes.post('/:id', bodyLimit({ maxSize: BODY_BYTES }), async (c) => {
    const given = answerShape.safeParse(await c.req.json().catch(() => null));
    if (!given.success) return refusal(c, badAnswer);
    const { choice, guidance, allow } = given.data;
    const answered = await desk.answer(c.req.param('id'), {
      choice,
      guidance: guidance || undefined,
      allow,
    });
    return answered.ok ? c.body(null, 204) : refusal(c, answered.error);
  });
  return routes;
}

const badAnswer: Problem = {
  kind: 'usage',
  message: 'The answer is invalid',
  remedy: 'Send {"choice": …, "guidance": …} as JSON.',
};

/** Leaves out the detail, which the person at the terminal may see but a page does not need. */
function refusal(c: Context, { kind, message, remedy }: Problem) {
  return c.text(`${message}. ${remedy}`, kind === 'usage' ? 400 : 500);
}
