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
  parseRow,
  serializeMasked,
  maskText,
  type Database,
  type StoreContext,
  type Tables,
} from './tables.js';

const DAY_MS = 24 * 60 * 60_000;

/** The part of the store that keeps escalations, answers and quarantines. */
type EscalationTable = Pick<
  Store,
  'escalate' | 'listEscalations' | 'closeEscalation' | 'answerEscalation' | 'listQuarantines' | 'releaseTests'
> & {
  findPending(signature: string): Promise<Escalation | null>;
};

export function createEscalationTable(context: StoreContext): EscalationTable {
  const { db, project } = context;
  const selectAllRows = () => db.selectFrom('escalations').selectAll().where('project', '=', project);
  const findById = async (id: string) =>
    parseEscalation(await selectAllRows().where('id', '=', id).executeTakeFirst());
  const findPending = async (signature: string) =>
    parseEscalation(
      await selectAllRows()
        .where('signature', '=', signature)
        .where('state', '=', 'pending')
        .executeTakeFirst(),
    );
  return {
    findPending,
    listEscalations: async (state) => {
      const query = state === null ? selectAllRows() : selectAllRows().where('state', '=', state);
      const rows = await query.orderBy('createdAt', 'desc').execute();
      return rows.flatMap((row) => parseEscalation(row) ?? []);
    },
    escalate: async (question, runId) => {
      await insertQuestion(context, question, runId);
      const stored = await findPending(question.signature);
      if (!stored) throw new Error('the question was answered at the moment it was asked');
      return stored;
    },
    closeEscalation: async (id, because) => {
      await db
        .updateTable('escalations')
        .set({ state: 'closed', closedBecause: maskText(because), resolvedAt: context.now() })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .execute();
    },
    answerEscalation: async (id, answer) => {
      const question = await findById(id);
      if (!question) return null;
      await db
        .transaction()
        .execute((transaction) => storeAnswer(transaction, context, { question, answer }));
      return findById(id);
    },
    listQuarantines: async () => {
      const rows = await db
        .selectFrom('quarantines')
        .select(['testId', 'name', 'escalationId', 'since', 'until'])
        .where('project', '=', project)
        .where('until', '>', context.now())
        .orderBy('since')
        .execute();
      return rows.map((row) => parseRow(quarantineShape, row));
    },
    releaseTests: async (testIds) => {
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
async function insertQuestion(
  { db, project, now }: StoreContext,
  question: Question,
  runId: string,
): Promise<void> {
  await db
    .insertInto('escalations')
    .values({
      ...question,
      id: randomUUID().slice(0, 8),
      project,
      runId,
      problem: maskText(question.problem),
      recommendation: maskText(question.recommendation),
      tried: serializeMasked(question.tried),
      choices: JSON.stringify(question.choices),
      tests: serializeMasked(question.tests),
      offers: serializeMasked(question.offers),
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
  const guidance = maskText(createGuidance(answer));
  const decision = readDecision(question, answer);
  await db
    .updateTable('escalations')
    .set({ state, choice, guidance, closedBecause: null, resolvedAt: now() })
    .where('id', '=', question.id)
    .execute();
  await db
    .updateTable('signatures')
    .set({ count: 0, failedFixes: 0, guidance, decision: decision && serializeMasked(decision) })
    .where('signature', '=', question.signature)
    .execute();
  await db.deleteFrom('quarantines').where('escalationId', '=', question.id).execute();
  // A person who wants another fix must not be asked about a remembered one again.
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

function parseEscalation(row: Selectable<Tables['escalations']> | undefined): Escalation | null {
  return row ? parseRow(escalationShape, row, ['tests', 'tried', 'choices', 'offers']) : null;
}
