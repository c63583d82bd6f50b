import { certain, likely } from '../../model/diagnosis.js';
import { createRules } from '../rule.js';

/** A database driver, mapper or client in a stack frame. */
const driverFile = String.raw`node_modules/(?:pg|pg-pool|pg-protocol|postgres|mysql2?|mariadb|mongodb|mongoose|better-sqlite3|sqlite3|libsql|@libsql/\w{1,20}|@?redis|@redis/\w{1,20}|ioredis|@prisma/client|drizzle-orm|knex|kysely|typeorm|sequelize)/`;

/** A database, its driver, its mapper or its service reports an error (CS-2). */
export const databaseRules = createRules('database-error', {
  'database/row-level-security': [
    certain,
    /violates row-level security policy|infinite recursion detected in policy for relation|row[- ]level security.{0,60}(?:policy|violat|denied)/i,
  ],
  'database/constraint': [
    certain,
    /violates (?:unique|foreign key|check|not-null|exclusion) constraint|null value in column "|matching the ON CONFLICT|\b(?:UNIQUE|NOT NULL|FOREIGN KEY|CHECK|PRIMARY KEY) constraint failed|Duplicate entry '[^\n]{0,200}' for key|Cannot (?:add or update a child|delete or update a parent) row|\bE11000\b|Violation of (?:UNIQUE|PRIMARY) KEY constraint|(?:Unique|Foreign key) constraint (?:failed on the|violated)|Integrity constraint violation/i,
  ],
  'database/object': [
    certain,
    /\b(?:relation|column|schema|role|extension|type|sequence|trigger|database|index|constraint) \\?["'`][^"'`\n]{1,120}["'`](?: of relation \\?"[^"\n]{1,100}")? does not exist|\bcolumn [\w.]{1,100} does not exist|\bfunction [\w."]{1,100}\([^)\n]{0,300}\) does not exist|no such (?:table|column|function): |has no column named|\bTable '[^'\n]{1,120}' doesn't exist|Unknown column '[^'\n]{1,120}' in |Unknown database '|Invalid (?:object|column) name '|does not exist in the current database|in the schema cache|Could not find a relationship between|\b(?:relation|type|schema|role|constraint|trigger|policy|extension|function|database|column|table) [`"'][^`"'\n]{1,120}[`"'].{0,80} already exists/i,
    { unless: /already exists, skipping/ },
  ],
  'database/permission': [
    certain,
    /permission denied for (?:table|schema|relation|sequence|function|database|view)|must be owner of|in a read-only transaction|write a readonly database|Access denied for user '|Login failed for user '|password authentication failed for user|pg_hba\.conf|Missing or insufficient permissions/i,
  ],
  'database/value': [
    certain,
    /invalid input syntax for (?:type )?\w|value too long for type|numeric field overflow|invalid input value for enum|syntax error at or near|error in your SQL syntax|near "[^"\n]{1,60}": syntax error|Data too long for column|doesn't have a default value|Column '[^'\n]{1,80}' cannot be null|column reference "[^"\n]{1,100}" is ambiguous|operator does not exist: |Cast to \w{1,40} failed for value|\bValidationError: \w{1,60} validation failed: /i,
  ],
  'database/lock': [
    likely,
    /deadlock (?:detected|found)|could not serialize access|canceling statement due to|current transaction is aborted|Lock wait timeout exceeded|database (?:table )?is locked|\bSQLITE_BUSY|Transaction API error/i,
  ],
  'database/connection': [
    likely,
    /connection slots are reserved|too many (?:clients|connections)|the database system is |due to administrator command|SASL(?:: SCRAM| authentication failed)|client password must be a string|connection to server (?:at|on socket) |Can't connect to (?:local )?MySQL|MySQL server has gone away|Can't reach database server|\bServerSelection(?:Timeout)?Error\b|buffering timed out after|timeout exceeded when trying to connect|timeout acquiring a connection|Connection terminated (?:unexpectedly|due to)|QueuePool limit|connection pool (?:is )?(?:exhausted|full|timeout|timed out)|from the connection pool|unable to open database file|No such container:? \S*(?:db|database|postgres|mysql|maria|mongo|redis)|Environment variable not found: \w*DATABASE_URL|(?:failed|unable|could not|cannot|can't|error)(?: to)? (?:connect|connecting|reach|open)(?:ing)?(?: to)? (?:the |a |your )?(?:\w{1,30} )?database\b/i,
  ],
  'database/prisma-message': [
    certain,
    // The line below Prisma's `Invalid … invocation`, which names only the failed call.
    /(?:failed|denied) against database server|Error querying the database|does not exist on the database server|records that were required but not found|Drift detected|Error validating datasource|URL must start with the protocol|@prisma\/client did not initialize|Prisma ?Client (?:could not locate|is unable|did not)|^(?:Unknown (?:field|argument|arg) `[^`\n]{1,80}`|Argument `[^`\n]{1,80}`(?: is missing|: Invalid value| must not))/im,
  ],
  'database/other-than-sql': [
    certain,
    /\bMongo[A-Z]\w{0,40}(?:Error|Exception)\b|\bMongoose\w{0,40}Error\b|\bPGRST\d{3}\b|single JSON object|Database error (?:saving|querying|creating|granting|finding|deleting|updating|loading)|\bReplyError: |\[ioredis\]|MaxRetriesPerRequestError|\bWRONGTYPE Operation|Could not reach Cloud Firestore|The query requires an index/i,
  ],
  'database/driver': [
    certain,
    // The names of drivers' errors, a SQLSTATE or Prisma's code in an error object, and the fields that drivers add to it.
    /\bPostgresError\b|(?<!['<])\b(?:psycopg[23]?|asyncpg)\.|\bSQLSTATE\b|\bPgError\b|\bDatabaseError\b|\bpq: |\bER_[A-Z]{2,30}(?:_[A-Z0-9]{1,30}){1,8}\b|\bSQLITE_[A-Z]{3,}|\bSqliteError\b|\bsqlite3\.\w{0,40}Error|\bLibsqlError\b|\bD1_ERROR\b|\bPDOException\b|\bPSQLException\b|\bSql(?:Client\.Sql)?Exception\b|\bcode\\?["']?\s{0,3}[:=]\s{0,3}\\?["'`](?:P[1-6]0\d{2}|(?:08|0[ABFLPZ]|2[0-8BDF]|34|38|39|3[BDF]|40|42|44|5[3-8]|F0|XX)[0-9A-Z]{3})\\?["'`]|\broutine["']?: ["']\w{3,60}["']|\bsqlMessage["']?:|\bsqlState["']?:|\bseverity["']?: ["'](?:ERROR|FATAL|PANIC)["']|\b(?:Error(?: code)?|error):? ?P[1-6]0\d{2}\b/,
  ],
  'database/mapper': [
    certain,
    /\bPrismaClient\w{0,40}Error\b|Invalid `(?:prisma\.|[^`\n]{1,120}\))[^`\n]{0,200}`? ?(?:invocation|\n|$)|Failed query: |\bDrizzle(?:Query)?Error\b|\bQueryFailedError\b|\bSequelize\w{0,60}Error\b|\bKnex(?:TimeoutError)?: |\bEntityNotFoundError\b|\b(?:Operational|Programming|Integrity)Error\b|\bsqlalchemy\.exc\.|\bdjango\.db\.|\bActiveRecord::\w+|\bQueryException\b|\borg\.hibernate\.\S{0,80}Exception|Microsoft\.EntityFrameworkCore\.\S{0,80}Exception/im,
  ],
  'database/on-page': [
    likely,
    // A framework's error page, or an app that shows the error. A page's text is content, so only whole database messages with the names of
    // their objects count.
    /violates row-level security policy for table \\?"\w|\b(?:relation|column) \\?"[\w.]{1,63}\\?"(?: of relation \\?"[\w.]{1,63}\\?")? does not exist|violates (?:unique|foreign key|not-null|check) constraint|\bpermission denied for (?:table|relation|schema|sequence) \w|\bno such (?:table|column): \w|\b(?:UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed: \w|\bTable '[\w.]{1,128}' doesn't exist|\bUnknown column '[\w.]{1,128}' in '|\bDuplicate entry '.{0,128}' for key '|\bInvalid `prisma\.\w{1,63}\.\w{1,63}\(\)` invocation/,
    { in: ['page'] },
  ],
  'database/port': [
    likely,
    // Only the port, or the host's name, shows that it was a database.
    /(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|connection refused|could not connect|can't connect|failed to connect).{0,80}:(?:5432|5433|6543|3306|3307|27017|1433|54322|6379)\b|:(?:5432|5433|6543|3306|27017|1433|6379)\b.{0,80}(?:refused|timed out|unreachable)|\b(?:ENOTFOUND|EAI_AGAIN) \S{0,60}(?:postgres|mysql|mongo|database|\bdb\b|redis)/i,
  ],
  'database/migration': [
    likely,
    /\bmigrations? .{0,60}\b(?:failed|pending|could not|error|not been applied|is corrupt|(?:is|are) missing|is already locked)|\b(?:pending|failed|missing|unapplied) (?:database )?migrations?\b|(?:failed|error|unable|could not).{0,30} (?:run|running|apply|applying|to migrate)\b.{0,30}migrations?/i,
    { unless: /\b0 (?:pending|failed)|no pending/i },
  ],
  'database/thrown-by-driver': [
    likely,
    // Any message above driver frames, unless it is about the values passed to the driver.
    new RegExp(
      String.raw`^[ \t]{0,12}(?:Caused by: |Uncaught )?(?:[A-Za-z][\w.$]{0,150} ?)?(?:[Ee]rror|Exception)(?: \[\w{1,60}\])?: [^\n]{1,400}\n(?:[ \t]{0,20}\n)?[ \t]{1,20}at [^\n]{0,300}${driverFile}`,
      'm',
    ),
    { in: ['error', 'stack', 'server'], unless: /\b(?:Type|Reference|Range|Syntax|Assertion|Abort)Error\b/ },
  ],
  'database/sql-log': [
    likely,
    // PostgreSQL servers and psql print two spaces after the severity.
    /\b(?:ERROR|FATAL|PANIC): {2}\S/,
    { unless: /\b(?:npm|webpack|TS\d)\b/ },
  ],
});
