import type { Kysely } from 'kysely';

/**
 * The tables of the store, the same in SQLite and PostgreSQL. Times are ISO 8601 text, lists and records are JSON text,
 * money is US dollars: types that both databases hand back alike.
 */
export interface Tables {
  runs: RunsTable;
  signatures: SignaturesTable;
  causes: CausesTable;
  attempts: AttemptsTable;
  escalations: EscalationsTable;
  quarantines: QuarantinesTable;
  heals: HealsTable;
  heal_agents: HealAgentsTable;
  workers: WorkersTable;
}

/** The store as queries see it. */
export type Database = Kysely<Tables>;

/** One `self-heal run` that found something to heal. */
interface RunsTable {
  id: string;
  project: string;
  started_at: string;
  /** Null while it works, and for ever where it was killed. */
  ended_at: string | null;
  outcome: string | null;
  exit_code: number | null;
  /** JSON: what was typed, so that `resume` can go on. */
  request: string;
  /** JSON: where each test stands. */
  progress: string;
  flaky: number;
  agent_runs_avoided: number;
  resumed_from: string | null;
}

/** What is remembered of one failure, over all runs of its project. */
interface SignaturesTable {
  /** Begins with the project's name, so that projects never share a count. */
  signature: string;
  project: string;
  /** Tries that did not heal it, since it was last healed or a person answered (ME-2). */
  count: number;
  /** Of these, fixes: an agent changed something and the test stayed red (HL-5). */
  failed_fixes: number;
  healed_times: number;
  healed_at: string | null;
  /** The run in which it was last healed. */
  healed_in: string | null;
  /** How often it came back after it had been healed. */
  came_back: number;
  came_back_at: string | null;
  /** How often a person undid its fix. */
  undone: number;
  /** What a person answered, for the next prompt. */
  guidance: string | null;
  first_seen: string;
  last_seen: string;
}

/** How one cause of one run ended. */
interface CausesTable {
  run_id: string;
  id: string;
  project: string;
  signature: string;
  category: string;
  verdict: string;
  reason: string;
  ended_at: string;
}

/** One try, written before its agent starts and again when it was judged; only a finished one counts. */
interface AttemptsTable {
  id: string;
  run_id: string;
  cause_id: string;
  project: string;
  signature: string;
  n: number;
  agent: string | null;
  runner: string | null;
  started_at: string;
  finished_at: string | null;
  outcome: string | null;
  judged: string | null;
  cost_usd: number | null;
  /** JSON: paths with lines added and removed. */
  files: string | null;
  /** What the agent said of its work. */
  claim: string | null;
  failed_because: string | null;
  /** Relative to the run's folder, with `/`. */
  patch: string | null;
  /** 1 or 0; null until it is finished. */
  taken_back: number | null;
}

/** A question to a person, and the answer. */
interface EscalationsTable {
  id: string;
  project: string;
  signature: string;
  run_id: string;
  category: string;
  retry: string;
  problem: string;
  recommendation: string;
  /** JSON: what was tried, attempt by attempt, in words. */
  tried: string;
  /** JSON: what a person may choose. */
  choices: string;
  /** JSON: id and name of each test. */
  tests: string;
  state: string;
  choice: string | null;
  guidance: string | null;
  created_at: string;
  resolved_at: string | null;
}

/** A test whose failing a person has accepted for now (ME-7). */
interface QuarantinesTable {
  project: string;
  test_id: string;
  name: string;
  escalation_id: string;
  since: string;
  until: string;
}

/** A heal whose causes are in a queue (SC-2). */
interface HealsTable {
  queue: string;
  /** Who sends the causes: one at a time. */
  coordinator: string;
  /** Counted up while the coordinator is alive. */
  beat: number;
}

/** An agent that a worker has started for a heal, for as long as that lasts. */
interface HealAgentsTable {
  id: string;
  /** The heal's. */
  queue: string;
  /** Null until it has ended, and where its program reports none. */
  cost_usd: number | null;
}

/** A `self-heal worker` that is alive, or was until lately. */
interface WorkersTable {
  id: string;
  project: string;
  /** The queue from which it takes causes. */
  queue: string;
  commit_id: string;
  /** Its settings, in a few letters. */
  config: string;
  /** Of its self-heal. */
  version: string;
  /** Machine and process. */
  name: string;
  /** `waiting`, `healing`, or `agent` while an agent works. */
  state: string;
  /** In this state, by its own clock. */
  since: string;
  cause_id: string | null;
  job_id: string | null;
  /** Counted up while it is alive. */
  beat: number;
}
