import { sql } from 'kysely';
import { builtIn } from '../model/built-in.js';
import type { DaySpent } from '../model/spent.js';
import type { Database } from './tables.js';
import type { RatedAgent, RatedClass, Stats } from './store.js';

export async function readStats(db: Database, project: string): Promise<Stats> {
  const [runs, classes, agents, heals] = await Promise.all([
    runCount(db, project),
    ratedClasses(db, project),
    ratedAgents(db, project),
    healTotals(db, project),
  ]);
  const costs = agents.flatMap(({ costUsd }) => costUsd ?? []);
  const costUsd = costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : null;
  const healedByAgents = agents.reduce((sum, { healed }) => sum + healed, 0);
  return {
    runs,
    classes,
    agents,
    ...heals,
    heldRate: rate(heals.heals - heals.cameBack - heals.undone, heals.heals),
    costUsd,
    costPerHealUsd: costUsd === null || healedByAgents === 0 ? null : costUsd / healedByAgents,
  };
}

/** PostgreSQL returns counts and sums as text, since they may exceed a number. */
type Total = number | string;

async function runCount(db: Database, project: string): Promise<number> {
  const { rows } = await sql<{ runs: Total }>`
    select count(*) as runs from runs where project = ${project}`.execute(db);
  return Number(rows[0]?.runs ?? 0);
}

async function ratedClasses(db: Database, project: string): Promise<RatedClass[]> {
  const { rows } = await sql<Record<'failures' | 'healed', Total> & { category: string }>`
    select category, count(*) as failures, sum(case when verdict = 'healed' then 1 else 0 end) as healed
    from causes where project = ${project} and verdict not in ('superseded', 'interrupted')
    group by category order by category`.execute(db);
  return rows.map(({ category, ...totals }) => {
    const { failures, healed } = numbersOf(totals);
    return { category, failures, healed, healRate: rate(healed, failures) };
  });
}

async function ratedAgents(db: Database, project: string): Promise<RatedAgent[]> {
  const { rows } = await sql<
    Record<'runs' | 'healed' | 'judged', Total> & { agent: string; cost: Total | null }
  >`
    select agent, count(*) as runs, sum(cost_usd) as cost,
      sum(case when ended = 'green' then 1 else 0 end) as healed,
      sum(case when ended in ('refused', 'unwritable', 'unusable', 'interrupted') then 0 else 1 end) as judged
    from attempts where project = ${project} and agent is not null and finished_at is not null
    group by agent order by agent`.execute(db);
  return rows.map(({ agent, cost, ...totals }) => {
    const { runs, healed, judged } = numbersOf(totals);
    return {
      agent,
      runs,
      healed,
      healRate: rate(healed, judged),
      costUsd: cost === null ? null : Number(cost),
    };
  });
}

/** Returns what agents have cost since a time (ISO 8601); a fix that was there already cost nothing. */
export async function spentSince(db: Database, project: string, since: string): Promise<DaySpent> {
  const { rows } = await sql<{ runs: Total; cost: Total | null }>`
    select count(*) as runs, sum(cost_usd) as cost from attempts
    where project = ${project} and agent is not null and runner <> ${builtIn} and started_at >= ${since}`.execute(
    db,
  );
  return { agentRuns: Number(rows[0]?.runs ?? 0), costUsd: Number(rows[0]?.cost ?? 0) };
}

async function healTotals(db: Database, project: string) {
  const { rows } = await sql<Record<'heals' | 'cameBack' | 'undone', Total>>`
    select sum(healed_times) as heals, sum(came_back) as came_back, sum(undone) as undone
    from signatures where project = ${project}`.execute(db);
  return numbersOf(rows[0]);
}

/** The sum of no rows is null. */
function numbersOf<K extends string>(row: Readonly<Record<K, Total>> | undefined): Record<K, number> {
  const numbers = Object.entries(row ?? {}).map(([name, sum]) => [name, Number(sum)]);
  return Object.fromEntries(numbers) as Record<K, number>;
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
