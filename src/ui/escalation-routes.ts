import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { choiceText, type Choice, type Escalation } from '../core/escalation.js';
import type { Problem } from '../problem.js';
import type { TypedAnswer } from '../run/answer-escalation.js';
import type { Result } from '../result.js';

/** Where the page's questions and answers go; `self-heal escalations` is the other way to the same. */
export interface EscalationDesk {
  /** The open questions, the newest first. */
  pending(): Promise<Result<readonly Escalation[], Problem>>;
  /** Answers a question; gives it as it is then. */
  answer(id: string, given: TypedAnswer): Promise<Result<Escalation, Problem>>;
}

const BODY_BYTES = 64 * 1024;

const answerShape = z.strictObject({
  choice: z.enum(Object.keys(choiceText) as [Choice, ...Choice[]]),
  guidance: z.string().max(20_000).optional(),
});

/** `GET /` gives the open questions with the words of their choices; `POST /<id>` answers one (ME-7). */
export function escalationRoutes(desk: EscalationDesk): Hono {
  const routes = new Hono();
  routes.get('/', async (c) => {
    const open = await desk.pending();
    return open.ok ? c.json({ escalations: open.value, choiceText }) : refusal(c, open.error);
  });
  routes.post('/:id', bodyLimit({ maxSize: BODY_BYTES }), async (c) => {
    const given = answerShape.safeParse(await c.req.json().catch(() => null));
    if (!given.success) return refusal(c, badAnswer);
    const { choice, guidance } = given.data;
    const answered = await desk.answer(c.req.param('id'), { choice, guidance: guidance || undefined });
    return answered.ok ? c.json(answered.value) : refusal(c, answered.error);
  });
  return routes;
}

const badAnswer: Problem = {
  kind: 'usage',
  message: 'This is not an answer',
  remedy: 'Send {"choice": …, "guidance": …} as JSON.',
};

/** The detail stays here: it may hold what a person at the terminal may see and a page need not. */
function refusal(c: Context, { kind, message, remedy }: Problem) {
  return c.json({ message, remedy }, kind === 'usage' ? 400 : 500);
}
