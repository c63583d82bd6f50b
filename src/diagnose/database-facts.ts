import type { Facts } from '../model/diagnosis.js';

/** The facts that a database's error names. */
export type DatabaseFacts = Pick<Facts, 'sql' | 'sqlState' | 'table' | 'column' | 'constraint' | 'policy'>;

/** The facts of evidence without a database error. */
export const noDatabaseFacts: DatabaseFacts = {
  sql: null,
  sqlState: null,
  table: null,
  column: null,
  constraint: null,
  policy: null,
};

const name = String.raw`\\{0,3}["'\x60]([\w.$-]{1,120})\\{0,3}["'\x60]`;
/** Matches a field of a driver's error object, printed by Node or as JSON. */
const createFieldPattern = (key: string) =>
  new RegExp(String.raw`\b${key}\\?["']?: \\?["']([^"'\\\n]{1,120})\\?["']`);

/** The most precise names come first: the engine's own error name, then the coarser SQLSTATE, then the mapper's code. */
const codePatterns = [
  /\b(ER_[A-Z][A-Z0-9_]{2,60})\b/,
  /\b(SQLITE_(?!ERROR\b)[A-Z]{3,20}(?:_[A-Z]{2,20}){0,3})\b/,
  /\b(E11000|ORA-\d{5}|PGRST\d{3})\b/,
  /\b(?:SQLSTATE|SQL ?State|sqlState)["']?\s{0,4}[[:= ('"]{1,4}([0-9A-Z]{5})\b/,
  /\b(?:pg_)?code\\?["']?\s{0,3}[:=]\s{0,3}\\?["'`]([0-9][0-9A-Z]{4}|[FHPX][0-9VX][0-9A-Z]{3})\\?["'`]/i,
  /\b(?:ERROR|FATAL):? {1,2}([0-9][0-9A-Z]{4}|[FHPX][0-9VX][0-9A-Z]{3})[: ]/,
  /\b(P[1-6]0\d{2})\b/,
  /\b(SQLITE_ERROR)\b/,
];
const tablePatterns = [
  /Could not find the table '(?:public\.)?([\w.]{1,120})'/,
  new RegExp(`(?:of|for|on|from|new row for) (?:relation|table) ${name}`),
  new RegExp(`\\b(?:relation|table|into) ${name}`, 'i'),
  /\bforeign key constraint fails \([`"]?(?:[\w-]{1,80}[`"]?\.[`"]?)?([\w-]{1,120})[`"]?, CONSTRAINT/i,
  /\b(?:[Nn]o such table|Invalid object name|in object|permission denied for (?:table|relation)):? '?([\w.]{1,120})/,
  /column of '([\w.]{1,120})' in the schema cache|column '[^'\n]{1,100}' of '([\w.]{1,120})'/,
  /Could not find a relationship between '([\w.]{1,120})'/,
  /\btable ([\w.]{1,120}) has (?:no column named|\d)/,
  /Table '([\w.]{1,120})' doesn't exist/,
  /constraint failed: ([\w]{1,100})\./,
  /\bcolumn [`"']?([\w]{1,100})\.[\w]{1,100}[`"']? does not exist/,
  /\bfor key '([\w]{1,100})\.[\w.]{1,100}'/,
  /\bcollection: ([\w.-]{1,120})/,
  /\bfor model "([\w.]{1,120})"/,
  createFieldPattern('modelName'),
  createFieldPattern('table(?:Name)?'),
  /\b(?:ValidationError: )?(\w{1,60}) validation failed: \w/,
];
/** Only for SQL statements, because prose contains `from`, too. */
const statementTable = /\b(?:from|into|update|join) [`"']?([a-z_][\w.]{0,100})[`"']?(?=[\s(;,)\]'"`]|$)/i;
const columnPatterns = [
  /Unknown column '(?:\w{1,100}\.)?([\w]{1,120})'/,
  /\bcolumn [`"']?(?:[\w]{1,100}\.){1,2}([\w]{1,100})[`"']? does not exist/,
  new RegExp(`\\bcolumn ${name}`, 'i'),
  /\bcolumn ([\w.]{1,120}) does not exist/,
  /[Nn]o such column: (?:\w{1,100}\.)?([\w]{1,120})/,
  /has no column named ([\w.]{1,120})/,
  /Could not find the '([\w.]{1,120})' column/,
  /constraint failed: \w{1,100}\.([\w]{1,100})/,
  /Invalid column name '([\w.]{1,120})'/,
  /constraint (?:failed|violation) on the \(?fields?:? ?\(?\s?[`"]([\w]{1,100})/i,
  /\bKey \(([\w, ]{1,120})\)=/,
  /\bField '([\w.]{1,120})' doesn't have a default value/,
  /\bFOREIGN KEY \([`"]?([\w]{1,120})/,
  /\bat path "([\w.]{1,120})"/,
  /\bPath [`"]([\w.]{1,120})[`"] is required/,
  /\bdup key: \{ ?"?([\w.]{1,120})"?:/,
  createFieldPattern('column(?:Name)?'),
];
const constraintPatterns = [
  new RegExp(`\\bconstraint:? ${name}`, 'i'),
  /constraint violated:? (?:on the constraint: )?[`"]([\w.$-]{1,120})/,
  /for key '([\w.]{1,120})'/,
  /\bindex: ([\w.]{1,120})/,
  createFieldPattern('constraint(?:Name)?'),
];
const policyPatterns = [/\bpolicy \\{0,3}"([^"\\\n]{1,120})\\{0,3}"(?! for relation)/];
/** The beginning of a statement, which may continue on more lines (SQLAlchemy). */
const statementStart =
  /\b(?:(?<=\[SQL: )select\b[^]{1,4000}?\bfrom\s|select\b.{1,4000}?\bfrom\s|insert into\s|update .{1,200}\bset\s|delete from\s|alter table\s|create (?:table|policy|index)\s)/i;
const maxLengths = { read: 8_000, total: 600, before: 120 };

/** Returns the facts in a database's error message; missing ones are null. */
export function parseDatabaseFacts(text: string): DatabaseFacts {
  const sql = findStatement(text);
  const columnName = findFirstMatch(columnPatterns, text);
  return {
    sql,
    sqlState: findFirstMatch(codePatterns, text),
    table:
      findFirstMatch(tablePatterns, text) ?? (sql === null ? null : findFirstMatch([statementTable], sql)),
    column: columnName,
    constraint: findFirstMatch(constraintPatterns, text),
    policy: findFirstMatch(policyPatterns, text),
  };
}

/** Returns the table in a PostgREST URL path: `orders` for `/rest/v1/orders?select=id`. */
export function parsePostgrestTable(path: string): string | null {
  return /\/rest\/v1\/(?!rpc\/)([\w.-]{1,120})/.exec(path)?.[1] ?? null;
}

/** Returns the first statement, up to the closing quote if it is quoted. */
function findStatement(text: string): string | null {
  const match = statementStart.exec(text);
  if (!match) return null;
  const rest = text.slice(match.index, match.index + maxLengths.read);
  // SQLAlchemy writes `[SQL: …]`.
  if (text.slice(0, match.index).endsWith('[SQL: ')) return rest.replace(/\]\s*(?:\n[^]*)?$/, '').trim();
  const [line = ''] = rest.split('\n');
  const opening = text[match.index - 1] ?? '';
  const end = /["'`]/.test(opening) ? line.lastIndexOf(opening) : -1;
  return (end > 0 ? line.slice(0, end) : line).trim();
}

/**
 * Finds the full text of a statement, because the rules read a shortened one. Reduces a long statement to its beginning and the part around the
 * faulty name.
 */
export function restoreStatement(sql: string, name: string | null, texts: readonly string[]): string {
  const start = sql.slice(0, 60);
  const text = texts.find((text) => text.includes(start)) ?? sql;
  return cutAroundName(findStatement(text.slice(Math.max(0, text.indexOf(start) - 6))) ?? sql, name);
}

function cutAroundName(sql: string, name: string | null): string {
  if (sql.length <= maxLengths.total) return sql;
  const at = name === null ? -1 : sql.indexOf(name);
  const from = Math.min(
    at - (maxLengths.total - maxLengths.before) / 2,
    sql.length - maxLengths.total + maxLengths.before,
  );
  if (from <= maxLengths.before) return `${sql.slice(0, maxLengths.total)} …`;
  const part = sql.slice(from, from + maxLengths.total - maxLengths.before);
  return `${sql.slice(0, maxLengths.before)} … ${part}${from + part.length < sql.length ? ' …' : ''}`;
}

function findFirstMatch(patterns: readonly RegExp[], text: string): string | null {
  for (const pattern of patterns) {
    const match = pattern.exec(text)?.slice(1).find(Boolean);
    if (match) return match;
  }
  return null;
}
