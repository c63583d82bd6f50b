import { rulesFor } from '../../rule.js';

/** A driver, a mapper or a client of a database in a frame of a stack. */
const driverFile = String.raw`node_modules/(?:pg|pg-pool|pg-protocol|postgres|mysql2?|mariadb|mongodb|mongoose|better-sqlite3|sqlite3|@libsql/\w{1,20}|tedious|mssql|oracledb|@?redis|@redis/\w{1,20}|redis-parser|ioredis|@prisma/client|drizzle-orm|knex|kysely|typeorm|sequelize|@mikro-orm/\w{1,20}|@aws-sdk/(?:client|lib)-dynamodb|@google-cloud/firestore|@firebase/firestore|@supabase/postgrest-js|neo4j-driver|cassandra-driver|@clickhouse/\w{1,20}|@elastic/\w{1,20})/`;
const driverPackage = String.raw`(?:Microsoft\.(?:EntityFrameworkCore|Data\.Sql\w{1,8})|Npgsql|MySqlConnector|MongoDB\.Driver|org\.hibernate|com\.zaxxer|org\.postgresql|com\.mysql|com\.mongodb|oracle\.jdbc|org\.mariadb)\.`;

/** Messages of MySQL, SQLite, SQL Server, Oracle, MongoDB, Redis and DynamoDB, and of the drivers that pass them on. */
export const otherEngineRules = rulesFor('database-error', [
  {
    id: 'database/mysql-code',
    pattern:
      /\bER_[A-Z]{2,30}(?:_[A-Z0-9]{1,30}){1,8}\b|\bPROTOCOL_(?:CONNECTION_LOST|ENQUEUE_AFTER)|MySQL server has gone away|Can't connect to (?:local )?MySQL|\bmysql(?:\.connector|client|db)?\.\w*(?:Error|exceptions)|is not allowed to connect to this MySQL/,
    confidence: 0.95,
  },
  {
    id: 'database/mysql-message',
    pattern:
      /\bTable '[^'\n]{1,120}' doesn't exist|Unknown column '[^'\n]{1,120}' in |Duplicate entry '[^\n]{0,200}' for key|Access denied for user '|Unknown database '|error in your SQL syntax|Lock wait timeout exceeded|Cannot (?:add or update a child|delete or update a parent) row|Data too long for column|Field '[^'\n]{1,80}' doesn't have a default value|Column '[^'\n]{1,80}' cannot be null|\bToo many connections\b|Deadlock found when|(?:Incorrect|Out of range) .{0,80}value.{0,80} for column|Public Key Retrieval is not allowed|Duplicate column name '/i,
    confidence: 0.95,
  },
  {
    id: 'database/sqlite',
    pattern:
      /\bSQLITE_[A-Z]{3,}|\bSqliteError\b|\bSQLite3::\w{0,40}Exception|\bsqlite3\.\w{0,40}Error|no such (?:table|column|function): |\b(?:UNIQUE|NOT NULL|FOREIGN KEY|CHECK|PRIMARY KEY) constraint failed|[Dd]atabase (?:table )?is locked|disk image is malformed|write a readonly database|unable to open database file|has no column named|\bLibsqlError\b|\bD1_ERROR\b|near "[^"\n]{1,60}": syntax error/,
    confidence: 0.95,
  },
  {
    id: 'database/sql-server',
    pattern:
      /Invalid (?:object|column) name '|Login failed for user '|Violation of (?:UNIQUE|PRIMARY) KEY constraint|Cannot open database "|statement conflicted with the|data would be truncated|insert the value NULL into column|\b(?:ORA|NJS|DPI|DPY)-\d{3,5}\b|\bSql(?:lient\.Sql)?Exception\b|java\.sql\.SQL\w+/i,
    confidence: 0.95,
  },
  {
    id: 'database/mongo',
    pattern:
      /\bE11000\b|\bMongo[A-Z]\w{0,40}(?:Error|Exception)\b|\bMongoose\w{0,40}Error\b|\bMongoError\b|buffering timed out after|Cast to \w{1,40} failed for value|[Tt]opology (?:was destroyed|is closed)|\bpymongo\.errors|\bServerSelection(?:Timeout)?Error\b|No suitable servers found/,
    confidence: 0.94,
  },
  {
    id: 'database/mongoose-validation',
    pattern:
      /\bValidationError: \w{1,60} validation failed: |\b\w{1,60} validation failed: \w{1,60}: (?:Path|Cast)/i,
    confidence: 0.85,
  },
  {
    id: 'database/driver-frame',
    // An exception that passed through a driver need not be the database's.
    pattern: new RegExp(driverFile),
    confidence: 0.5,
  },
  {
    id: 'database/thrown-by-driver',
    // The message above the frames of a driver, whatever it says, unless it is about the values that the driver got.
    pattern: new RegExp(
      String.raw`^[ \t]{0,12}(?:---> |Caused by: |Uncaught )?(?:[A-Za-z][\w.$]{0,150} ?)?(?:[Ee]rror|Exception)(?: \[\w{1,60}\]| \(0x\w{8}\))?: [^\n]{1,400}\n(?:[ \t]{0,20}\n)?[ \t]{1,20}at (?:[^\n]{0,300}${driverFile}|${driverPackage})`,
      'm',
    ),
    unless:
      /\b(?:Type|Reference|Range|Syntax|Assertion|Abort)Error\b|Null(?:Reference|Pointer)|ArgumentNull|Cast(?:Exception|\b)/,
    sources: ['error', 'stack', 'server'],
    confidence: 0.76,
  },
  {
    id: 'database/key-value',
    pattern:
      /\b(?:Neo4j|ClickHouse|Cassandra|Couchbase|Surreal|Elasticsearch|OpenSearch|Influx)\w{0,30}(?:Error|Exception)\b|\bReplyError: |\b(?:ConditionalCheckFailed|ProvisionedThroughputExceeded|TransactionCanceled|TransactionConflict|ItemCollectionSizeLimitExceeded)Exception\b|operations on a non-existent table|\bValidationException: .{0,80}(?:key element|AttributeValue|Expression)|\bWRONGTYPE Operation|\[ioredis\]|\bNOAUTH Authentication|Redis connection to \S{1,100} failed|\bRedis::\w+Error|MaxRetriesPerRequestError/i,
    confidence: 0.85,
  },
]);
