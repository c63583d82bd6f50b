import { sql } from 'kysely';
import type { Database } from './tables.js';

/** Statistics over the stored runs of a project. Rates range from 0 to 1, or are null if there is nothing to rate. */
export interface Stats {
  readonly runs: number;
  readonly classes: readonly RatedClass[];
  readonly agents: readonly RatedAgent[];
  /** How many failures were healed, how many of those came back in a later run, and how many fixes a person undid. */
  readonly heals: number;
  readonly cameBack: number;
  readonly undone: number;
  readonly heldRate: number | null;
  readonly flaky: number;
  readonly agentRuns: number;
  readonly agentRunsAvoided: number;
  readonly costUsd: number | null;
  readonly costPerHealUsd: number | null;
}

/** Causes of one class. A cause superseded by another error is rated under that error, an interrupted one when it is finished. */
export interface RatedClass {
  readonly category: string;
  readonly failures: number;
  readonly healed: number;
  readonly healRate: number | null;
}

/** The results of one agent. Runs that no re-run judged, because the API failed or they were interrupted, are not rated. */
export interface RatedAgent {
  readonly agent: string;
  readonly runs: number;
  readonly healed: number;
  readonly healRate: number | null;
  readonly costUsd: number | null;
}

/** Computes the statistics over all stored runs of a project. */
export async function readStats(db: Database, project: string): Promise<Stats> {
  const [runs, classes, agents, heals] = await Promise.all([
    runTotals(db, project),
    ratedClasses(db, project),
    ratedAgents(db, project),
    healTotals(db, project),
  ]);
  const costs = agents.flatMap(({ costUsd }) => costUsd ?? []);
  const costUsd = costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : null;
  const healedByAgents = agents.reduce((sum, { healed }) => sum + healed, 0);
  return {
    ...runs,
    classes,
    agents,
    ...heals,
    heldRate: rate(heals.heals - heals.cameBack - heals.undone, heals.heals),
    agentRuns: agents.reduce((sum, agent) => sum + agent.runs, 0),
    costUsd,
    costPerHealUsd: costUsd === null || healedByAgents === 0 ? null : costUsd / healedByAgents,
  };
}

async function runTotals(db: Database, project: string) {
  const row = await db
    .selectFrom('runs')
    .select(({ fn }) => [
      fn.countAll().as('runs'),
      fn.sum('flaky').as('flaky'),
      fn.sum('agentRunsAvoided').as('agentRunsAvoided'),
    ])
    .where('project', '=', project)
    .executeTakeFirstOrThrow();
  return numbersOf(row);
}

async function ratedClasses(db: Database, project: string): Promise<RatedClass[]> {
  const rows = await db
    .selectFrom('causes')
    .select(({ fn }) => [
      'category',
      fn.countAll().as('failures'),
      fn.sum(sql<number>`case when verdict = 'healed' then 1 else 0 end`).as('healed'),
    ])
    .where('project', '=', project)
    .where('verdict', 'not in', ['superseded', 'interrupted'])
    .groupBy('category')
    .orderBy('category')
    .execute();
  return rows.map((row) => {
    const [failures, healed] = [Number(row.failures), Number(row.healed)];
    return { category: row.category, failures, healed, healRate: rate(healed, failures) };
  });
}

async function ratedAgents(db: Database, project: string): Promise<RatedAgent[]> {
  const rows = await db
    .selectFrom('attempts')
    .select(({ fn }) => [
      'agent',
      fn.countAll().as('runs'),
      fn.sum(sql<number>`case when judged = 'green' and taken_back = 0 then 1 else 0 end`).as('healed'),
      fn.sum(sql<number>`case when judged = 'not-judged' then 0 else 1 end`).as('judged'),
      fn.sum('costUsd').as('cost'),
    ])
    .where('project', '=', project)
    .where('agent', 'is not', null)
    .where('finishedAt', 'is not', null)
    .groupBy('agent')
    .orderBy('agent')
    .execute();
  return rows.map((row) => {
    const healed = Number(row.healed);
    const healRate = rate(healed, Number(row.judged));
    const costUsd = row.cost === null ? null : Number(row.cost);
    return { agent: row.agent ?? '', runs: Number(row.runs), healed, healRate, costUsd };
  });
}

async function healTotals(db: Database, project: string) {
  const row = await db
    .selectFrom('signatures')
    .select(({ fn }) => [
      fn.sum('healedTimes').as('heals'),
      fn.sum('cameBack').as('cameBack'),
      fn.sum('undone').as('undone'),
    ])
    .where('project', '=', project)
    .executeTakeFirstOrThrow();
  return numbersOf(row);
}

/** PostgreSQL returns counts and sums as text, since they may exceed a number; the sum of no rows is null. */
function numbersOf<K extends string>(row: Readonly<Record<K, unknown>>): Record<K, number> {
  return Object.fromEntries(Object.entries(row).map(([name, sum]) => [name, Number(sum)])) as Record<
    K,
    number
  >;
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
