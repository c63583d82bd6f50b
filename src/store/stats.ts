import { sql } from 'kysely';
import { builtIn } from '../model/built-in.js';
import type { DaySpent } from '../model/spent.js';
import type { Database } from './tables.js';
import type { RatedAgent, RatedClass, Stats } from './store.js';

// PostgreSQL returns counts and sums of integers as text, unless they are cast.

export async function readStats(db: Database, project: string): Promise<Stats> {
  const [runs, classes, agents, heals] = await Promise.all([
    sql<{ runs: number }>`
      select cast(count(*) as integer) as runs from runs where project = ${project}`.execute(db),
    sql<Omit<RatedClass, 'healRate'>>`
      select category, cast(count(*) as integer) as failures,
        cast(sum(case when verdict = 'healed' then 1 else 0 end) as integer) as healed
      from causes where project = ${project} and verdict not in ('superseded', 'interrupted')
      group by category order by category`.execute(db),
    sql<Omit<RatedAgent, 'healRate'> & { judged: number }>`
      select agent, cast(count(*) as integer) as runs, sum(cost_usd) as cost_usd,
        cast(sum(case when ended = 'green' then 1 else 0 end) as integer) as healed,
        cast(sum(case when ended in ('refused', 'unwritable', 'unusable', 'interrupted') then 0 else 1 end) as integer) as judged
      from attempts where project = ${project} and agent is not null and finished_at is not null
      group by agent order by agent`.execute(db),
    sql<Pick<Stats, 'heals' | 'cameBack' | 'undone'>>`
      select cast(coalesce(sum(healed_times), 0) as integer) as heals,
        cast(coalesce(sum(came_back), 0) as integer) as came_back,
        cast(coalesce(sum(undone), 0) as integer) as undone
      from signatures where project = ${project}`.execute(db),
  ]);
  const totals = heals.rows[0] ?? { heals: 0, cameBack: 0, undone: 0 };
  const costs = agents.rows.flatMap(({ costUsd }) => costUsd ?? []);
  const costUsd = costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : null;
  const healedByAgents = agents.rows.reduce((sum, { healed }) => sum + healed, 0);
  return {
    runs: runs.rows[0]?.runs ?? 0,
    classes: classes.rows.map((row) => ({ ...row, healRate: rate(row.healed, row.failures) })),
    agents: agents.rows.map(({ judged, ...row }) => ({ ...row, healRate: rate(row.healed, judged) })),
    ...totals,
    heldRate: rate(totals.heals - totals.cameBack - totals.undone, totals.heals),
    costUsd,
    costPerHealUsd: costUsd === null || healedByAgents === 0 ? null : costUsd / healedByAgents,
  };
}

/** Returns what agents have cost since a time (ISO 8601). The built-in fixer costs nothing. */
export async function spentSince(db: Database, project: string, since: string): Promise<DaySpent> {
  const { rows } = await sql<DaySpent>`
    select cast(count(*) as integer) as agent_runs, coalesce(sum(cost_usd), 0) as cost_usd from attempts
    where project = ${project} and agent is not null and runner <> ${builtIn} and started_at >= ${since}`.execute(
    db,
  );
  return rows[0] ?? { agentRuns: 0, costUsd: 0 };
}

function rate(part: number, total: number): number | null {
  return total === 0 ? null : part / total;
}
