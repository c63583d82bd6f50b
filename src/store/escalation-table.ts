import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import {
  readDecision,
  escalationShape,
  createGuidance,
  QUARANTINE_DAYS,
  type Answer,
  type Escalation,
  type EscalationState,
  type Question,
} from '../model/escalation.js';
import { refuseFixes } from './fix-table.js';
import { quarantineShape, type Store } from './store.js';
import {
  checkedRow,
  storedJson,
  storedText,
  type Database,
  type StoreContext,
  type Tables,
} from './tables.js';

const DAY_MS = 24 * 60 * 60_000;

/** The part of the store that keeps escalations, answers and quarantines. */
type EscalationTable = Pick<
  Store,
  'escalate' | 'escalations' | 'closeEscalation' | 'resolve' | 'quarantines' | 'release'
> & {
  openFor(signature: string): Promise<Escalation | null>;
};

export function escalationTable(context: StoreContext): EscalationTable {
  const { db, project } = context;
  const all = () => db.selectFrom('escalations').selectAll().where('project', '=', project);
  const byId = async (id: string) => escalationOf(await all().where('id', '=', id).executeTakeFirst());
  const openFor = async (signature: string) =>
    escalationOf(
      await all().where('signature', '=', signature).where('state', '=', 'pending').executeTakeFirst(),
    );
  return {
    openFor,
    escalations: async (state) => {
      const chosen = state === null ? all() : all().where('state', '=', state);
      const rows = await chosen.orderBy('createdAt', 'desc').execute();
      return rows.flatMap((row) => escalationOf(row) ?? []);
    },
    escalate: async (question, runId) => {
      await insert(context, question, runId);
      const stored = await openFor(question.signature);
      if (!stored) throw new Error('the question was answered at the moment it was asked');
      return stored;
    },
    closeEscalation: async (id, because) => {
      await db
        .updateTable('escalations')
        .set({ state: 'closed', closedBecause: storedText(because), resolvedAt: context.now() })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .execute();
    },
    resolve: async (id, answer) => {
      const question = await byId(id);
      if (!question) return null;
      await db
        .transaction()
        .execute((transaction) => storeAnswer(transaction, context, { question, answer }));
      return byId(id);
    },
    quarantines: async () => {
      const rows = await db
        .selectFrom('quarantines')
        .select(['testId', 'name', 'escalationId', 'since', 'until'])
        .where('project', '=', project)
        .where('until', '>', context.now())
        .orderBy('since')
        .execute();
      return rows.map((row) => checkedRow(quarantineShape, row));
    },
    release: async (testIds) => {
      if (testIds.length === 0) return;
      await db
        .deleteFrom('quarantines')
        .where('project', '=', project)
        .where('testId', 'in', testIds)
        .execute();
    },
  };
}

/** Stores a question, unless one about the same signature is pending. */
async function insert({ db, project, now }: StoreContext, question: Question, runId: string): Promise<void> {
  await db
    .insertInto('escalations')
    .values({
      ...question,
      id: randomUUID().slice(0, 8),
      project,
      runId,
      problem: storedText(question.problem),
      recommendation: storedText(question.recommendation),
      tried: storedJson(question.tried),
      choices: JSON.stringify(question.choices),
      tests: storedJson(question.tests),
      offers: storedJson(question.offers),
      state: 'pending',
      createdAt: now(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function storeAnswer(
  db: Database,
  { project, now }: StoreContext,
  { question, answer }: { question: Escalation; answer: Answer },
): Promise<void> {
  const { choice } = answer;
  const state: EscalationState = choice === 'skip' ? 'skipped' : 'resolved';
  const guidance = storedText(createGuidance(answer));
  const decision = readDecision(question, answer);
  await db
    .updateTable('escalations')
    .set({ state, choice, guidance, closedBecause: null, resolvedAt: now() })
    .where('id', '=', question.id)
    .execute();
  await db
    .updateTable('signatures')
    .set({ count: 0, failedFixes: 0, guidance, decision: decision && storedJson(decision) })
    .where('signature', '=', question.signature)
    .execute();
  await db.deleteFrom('quarantines').where('escalationId', '=', question.id).execute();
  // Whoever wants another fix is not asked about a remembered one again.
  if (choice === 'guide' || choice === 'simplify')
    await refuseFixes(db, { project }).where('signature', '=', question.signature).execute();
  if (choice !== 'skip') return;
  const since = now();
  const until = new Date(Date.parse(since) + (answer.days ?? QUARANTINE_DAYS) * DAY_MS).toISOString();
  const quarantine = { escalationId: question.id, since, until };
  for (const { id: testId, name } of question.tests) {
    await db
      .insertInto('quarantines')
      .values({ project, testId, name, ...quarantine })
      .onConflict((conflict) => conflict.columns(['project', 'testId']).doUpdateSet(quarantine))
      .execute();
  }
}

function escalationOf(row: Selectable<Tables['escalations']> | undefined): Escalation | null {
  return row ? checkedRow(escalationShape, row, ['tests', 'tried', 'choices', 'offers']) : null;
}
