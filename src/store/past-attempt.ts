import type { Selectable } from 'kysely';
import { type AgentClaim, type Attempt, type FileChange, isKept } from '../core/attempt.js';
import type { Tables } from './tables.js';

/** An attempt as the store kept it; its patch is named relative to any run's folder, since these lie side by side. */
export function pastAttempt(row: Selectable<Tables['attempts']>): Attempt {
  const judged = (row.judged ?? 'not-judged') as Attempt['judged'];
  return {
    n: row.n,
    agent: row.agent,
    slashCommand: row.agent === null ? null : `/${row.agent}`,
    runner: row.runner,
    outcome: (row.outcome ?? 'aborted') as Attempt['outcome'],
    claim: row.claim === null ? null : (JSON.parse(row.claim) as AgentClaim),
    usage: null,
    judged,
    durationMs: 0,
    files: row.files === null ? [] : (JSON.parse(row.files) as FileChange[]),
    patch: row.patch === null ? null : `../${row.run_id}/${row.patch}`,
    prompt: null,
    change: null,
    proof: [],
    reverted: row.taken_back === null ? !isKept({ judged, reverted: false }) : row.taken_back === 1,
    failedBecause: row.failed_because,
  };
}
