import { rulesFor } from '../../rule.js';

/** PostgreSQL's messages (its catalog, `src/backend/po`), whichever program prints them. */
export const postgresRules = rulesFor('database-error', [
  {
    id: 'database/row-level-security',
    pattern:
      /violates row-level security policy|infinite recursion detected in policy for relation|affected by row-level security|row[- ]level security.{0,60}(?:policy|violat|denied)/i,
    confidence: 0.97,
  },
  {
    id: 'database/constraint',
    pattern:
      /violates (?:unique|foreign key|check|not-null|exclusion|partition) constraint|null value in column "|conflicting key value violates|matching the ON CONFLICT/i,
    confidence: 0.97,
  },
  {
    id: 'database/missing-object',
    pattern:
      /\b(?:relation|column|schema|role|extension|type|sequence|trigger|prepared statement|database|materialized view|index|constraint) \\?["'`][^"'`\n]{1,120}["'`](?: of relation \\?"[^"\n]{1,100}")? does not exist|\bcolumn [\w.]{1,100} does not exist|\bfunction [\w."]{1,100}\([^)\n]{0,300}\) does not exist|operator does not exist: |\bundefined_(?:table|column)\b/i,
    confidence: 0.96,
  },
  {
    id: 'database/already-exists',
    pattern:
      /\b(?:relation|type|schema|role|constraint|trigger|policy|extension|function|database|prepared statement|column|table) [`"'][^`"'\n]{1,120}[`"'].{0,80} already exists/i,
    confidence: 0.9,
  },
  {
    id: 'database/permission',
    pattern:
      /permission denied for (?:table|schema|relation|sequence|function|database|view|materialized view|column|type|language|foreign)|must be owner of|in a read-only transaction|\binsufficient_privilege\b/i,
    confidence: 0.95,
  },
  {
    id: 'database/postgres-value',
    pattern:
      /invalid input syntax for (?:type )?\w|value too long for type|numeric field overflow|invalid input value for enum|non-DEFAULT value into column|out of range for type|malformed array literal|syntax error at or near|cannot be cast (?:automatically )?to type|column reference "[^"\n]{1,100}" is ambiguous|more than one row returned by a subquery|must appear in the GROUP BY clause/i,
    confidence: 0.95,
  },
  {
    id: 'database/postgres-transaction',
    pattern:
      /deadlock detected|could not serialize access|canceling statement due to|current transaction is aborted|(?:lock|statement) timeout.{0,40}(?:SQL|query|relation)/i,
    confidence: 0.93,
  },
  {
    id: 'database/postgres-connection',
    pattern:
      /password authentication failed for user|pg_hba\.conf|connection slots are reserved|too many clients|the database system is (?:starting up|shutting down|in recovery)|due to administrator command|SASL(?:: SCRAM| authentication failed)|client password must be a string|The server does not support SSL|connection to server (?:at|on socket) |max client(?:s|\s?connections) reached|Tenant or user not found|could not connect to server: |listening on TCP port/i,
    confidence: 0.94,
  },
  {
    id: 'database/postgres-driver',
    // Not an object of the driver in the message of another error: `'psycopg2.extras.DictRow object' has no attribute 'total'`.
    pattern:
      /\bPostgresError\b|\bPG::(?!Result\b)\w+|(?<!['<])\b(?:psycopg[23]?|asyncpg)\.|\bSQLSTATE\b|\bPostgrex\.|\bNpgsql\.|\bPSQLException\b|\bpq: |\bPgError\b|PostgreSQL error|\bDatabaseError\b/i,
    confidence: 0.9,
  },
  {
    id: 'database/sqlstate',
    pattern:
      /\bcode\\?["']?\s{0,3}[:=]\s{0,3}\\?["'](?:(?:03|08|0[ABFLPZ]|2[0-8BDF]|34|38|39|3[BDF]|40|42|44|5[3-8]|72|F0|HV|P0|XX)[0-9A-Z]{3})\\?["']/,
    confidence: 0.85,
  },
  {
    id: 'database/sql-log',
    // How a PostgreSQL server and psql print errors: with two spaces after the severity.
    pattern: /\b(?:ERROR|FATAL|PANIC): {2}\S/,
    unless: /\b(?:npm|webpack|TS\d)\b/,
    confidence: 0.72,
  },
]);
