import { sql } from 'kysely';
import { builtIn } from '../model/built-in.js';
import type { DaySpent } from '../model/spent.js';
import type { Database } from './tables.js';

/** Sums the costs of agents since a time (ISO 8601). The built-in fixer costs nothing. */
export async function sumCostsSince(db: Database, project: string, since: string): Promise<DaySpent> {
  const { rows } = await sql<DaySpent>`
    select cast(count(*) as integer) as agent_runs, coalesce(sum(cost_usd), 0) as cost_usd from attempts
    where project = ${project} and agent is not null and runner <> ${builtIn} and started_at >= ${since}`.execute(
    db,
  );
  return rows[0] ?? { agentRuns: 0, costUsd: 0 };
}
