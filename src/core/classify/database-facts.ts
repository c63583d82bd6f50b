import type { Facts } from '../diagnosis.js';

type DatabaseFacts = Pick<Facts, 'sql' | 'sqlState' | 'table' | 'column' | 'constraint' | 'policy'>;

/** Where nothing speaks of a database. */
export const noDatabaseFacts: DatabaseFacts = {
  sql: null,
  sqlState: null,
  table: null,
  column: null,
  constraint: null,
  policy: null,
};

const name = String.raw`\\?["'\x60]([\w.$-]{1,120})\\?["'\x60]`;

const sqlState = [
  /\bSQLSTATE[[:= ('"]{1,4}([0-9A-Z]{5})\b/,
  /\bcode\\?["']?\s{0,3}[:=]\s{0,3}\\?["']([0-9A-Z]{5})\\?["']/,
  /\bERROR: {1,2}([0-9A-Z]{5}):/,
];
const table = [
  new RegExp(`(?:of|for|on|from|new row for) (?:relation|table) ${name}`),
  new RegExp(`\\b(?:relation|table|into) ${name}`, 'i'),
  /\b(?:[Nn]o such table|Invalid object name|permission denied for (?:table|relation)):? '?([\w.]{1,120})/,
  /Could not find the table '(?:public\.)?([\w.]{1,120})'/,
  /column of '([\w.]{1,120})' in the schema cache|column '[^'\n]{1,100}' of '([\w.]{1,120})'/,
  /Table '([\w.]{1,120})' doesn't exist/,
  /constraint failed: ([\w]{1,100})\./,
  /\bcollection: ([\w.-]{1,120})/,
  /\b(?:from|into|update|join) [`"']?([a-z_][\w.]{0,100})[`"']?(?=[\s(;]|$)/i,
];
const column = [
  new RegExp(`\\bcolumn ${name}`, 'i'),
  /\bcolumn ([\w.]{1,120}) does not exist/,
  /[Nn]o such column: ([\w.]{1,120})/,
  /has no column named ([\w.]{1,120})/,
  /Unknown column '([\w.]{1,120})'/,
  /Could not find the '([\w.]{1,120})' column/,
  /constraint failed: \w{1,100}\.([\w]{1,100})/,
  /Invalid column name '([\w.]{1,120})'/,
];
const constraint = [
  new RegExp(`\\bconstraint:? ${name}`),
  /for key '([\w.]{1,120})'/,
  /\bindex: ([\w.]{1,120})/,
];
const policy = [/\bpolicy \\?"([^"\\\n]{1,120})\\?"/];
const sql =
  /\b(?:select\b.{1,600}\bfrom|insert into|update .{1,200}\bset|delete from|alter table|create (?:table|policy|index))\b.{0,800}/i;

/** What a database's own words name; null where they name none. SQL at most 1,000 characters. */
export function databaseFacts(text: string): DatabaseFacts {
  const statement = sql.exec(text)?.[0] ?? null;
  return {
    sql: statement?.trim().slice(0, 1000) ?? null,
    sqlState: first(sqlState, text),
    table: first(table, text),
    column: first(column, text),
    constraint: first(constraint, text),
    policy: first(policy, text),
  };
}

/** The table that a PostgREST address names: `/rest/v1/orders?select=id` is `orders`. */
export function postgrestTable(path: string): string | null {
  return /\/rest\/v1\/(?!rpc\/)([\w.-]{1,120})/.exec(path)?.[1] ?? null;
}

function first(patterns: readonly RegExp[], text: string): string | null {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.slice(1).find(Boolean);
    if (found) return found;
  }
  return null;
}
