import { type Kysely, sql, type Transaction } from 'kysely';
import type { Attempt, AttemptEnd } from '../model/attempt.js';
import type { Escalation } from '../model/escalation.js';
import type { AttemptStart, FixToRemember, FlakeRecord, Quarantine } from './store.js';
import type { z } from 'zod';
import { parseJson } from '../parse-json.js';
import { redact } from '../secrets/redactor.js';

/**
 * The tables of the store, the same in SQLite and PostgreSQL. Kysely writes their names in snake case. Times are ISO 8601 text, lists and
 * records are JSON text, and money is in US dollars, because both databases return these types alike.
 */
export interface Tables {
  signatures: SignaturesTable;
  attempts: AttemptsTable;
  escalations: EscalationsTable;
  quarantines: Quarantine & { project: string };
  flakes: FlakeRecord & { project: string };
  fixes: FixesTable;
}

export type Database = Kysely<Tables>;

export interface StoreContext {
  readonly db: Database;
  readonly project: string;
  /** ISO 8601. */
  readonly now: () => string;
}

/** The stored facts about one failure, from all runs of its project. */
interface SignaturesTable {
  /** Begins with the project's name, so that projects never share a count. */
  signature: string;
  project: string;
  /** Failed attempts since it was last healed, or since a person answered (ME-2). */
  count: number;
  /** How many of these made a change without turning the test green (HL-5). */
  failedFixes: number;
  healedTimes: number;
  healedAt: string | null;
  /** The run in which it was last healed. */
  healedIn: string | null;
  /** A person's guidance for the next prompt. */
  guidance: string | null;
  /** JSON: a person's decision other than guidance. */
  decision: string | null;
  firstSeen: string;
  lastSeen: string;
}

/** A green fix, under one signature. Its contents are unmasked, so a fix with a known secret is not stored. */
interface FixesTable extends Omit<FixToRemember, 'edits' | 'reading' | 'signatures' | 'replaces'> {
  signature: string;
  id: string;
  project: string;
  savedAt: string;
  /** Why it is not tried again: `undone` or `did-not-hold`; null if it may be tried. */
  refused: string | null;
  /** JSON. */
  reading: string | null;
  /** JSON. */
  edits: string;
}

/** One attempt, written before its agent starts and again when its result is known. Only finished attempts count. */
interface AttemptsTable extends AttemptStart {
  project: string;
  startedAt: string;
  finishedAt: string | null;
  exit: Attempt['exit'];
  /** How it ended; null until then. */
  ended: AttemptEnd['kind'] | null;
  costUsd: number | null;
  /** JSON: paths with the numbers of lines added and removed. */
  files: string | null;
  /** JSON: the agent's claim. */
  claim: string | null;
  because: string | null;
  /** Relative to the run's folder, with forward slashes. */
  patch: string | null;
}

/** An escalation to a person, and the answer. */
interface EscalationsTable extends Omit<Escalation, 'tried' | 'choices' | 'tests' | 'offers'> {
  /** JSON: a description of each attempt. */
  tried: string;
  /** JSON: the choices that a person has. */
  choices: string;
  /** JSON: the id and name of each test. */
  tests: string;
  /** JSON: the patches that are ready. */
  offers: string;
}

/** Masks secrets in a text for the store, which other people may read (EV-9). */
export function maskText(text: string): string;
export function maskText(text: string | null): string | null;
export function maskText(text: string | null): string | null {
  // PostgreSQL text cannot contain NUL.
  return text === null ? null : redact(text.replaceAll('\0', ''));
}

/** Serializes a value as JSON for the store, with each string masked separately so that the JSON stays valid. */
export function serializeMasked(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? redact(part) : part));
}

/** Thrown if the store contains data that self-heal did not write. */
export class DamagedStoreError extends Error {}

/** Parses a row and its JSON fields in this shape. Throws `DamagedStoreError` for any other row, because a store is untrusted like every file. */
export function parseRow<T>(shape: z.ZodType<T>, row: object, jsonFields: readonly string[] = []): T {
  const values = Object.entries(row).map(([name, value]: [string, unknown]) => {
    return [name, jsonFields.includes(name) && typeof value === 'string' ? parseJson(value) : value];
  });
  const parsed = shape.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DamagedStoreError(`${issue?.path.join('.')}: ${issue?.message}`);
}

/** The version of the tables. A change to the tables needs a new version: see `openStore`. */
export const storeVersion = 5;

/** Creates the tables above, in SQL that SQLite and PostgreSQL share. */
export async function createTables(db: Transaction<unknown>): Promise<void> {
  for (const statement of tables.split(';\n')) await sql.raw(statement).execute(db);
  await sql`insert into store_version (version) values (${storeVersion})`.execute(db);
}

const tables = `
create table store_version (version integer not null);
create table signatures (
  signature text primary key, project text not null, count integer not null, failed_fixes integer not null,
  healed_times integer not null, healed_at text, healed_in text, guidance text, decision text, first_seen text not null,
  last_seen text not null
);
create table attempts (
  id text primary key, run_id text not null, cause_id text not null, project text not null, signature text not null,
  category text not null, n integer not null, agent text, runner text, started_at text not null, finished_at text, exit text, ended text,
  cost_usd double precision, files text, claim text, because text, patch text
);
create index attempts_by_signature on attempts (signature);
create table escalations (
  id text primary key, project text not null, signature text not null, run_id text not null, category text not null,
  retry text not null, problem text not null, recommendation text not null, tried text not null, choices text not null,
  tests text not null, offers text not null, state text not null, created_at text not null, choice text, guidance text,
  resolved_at text, closed_because text
);
-- Two machines with the same failure ask one question.
create unique index one_question_a_signature on escalations (signature) where state = 'pending';
create table quarantines (
  project text not null, test_id text not null, name text not null, escalation_id text not null, since text not null,
  until text not null, primary key (project, test_id)
);
create table flakes (
  project text not null, test_id text not null, name text not null, kind text, red integer not null, green integer not null,
  last_seen text not null, primary key (project, test_id)
);
create table fixes (
  signature text not null, id text not null, project text not null, run_id text not null, cause_id text not null, agent text not null,
  proven text not null, saved_at text not null, refused text, reading text, edits text not null, primary key (signature, id)
)`;
