import { rulesFor } from '../../rule.js';

/** Messages of object-relational mappers and query builders about the database beneath them. */
export const mapperRules = rulesFor('database-error', [
  {
    id: 'database/prisma',
    // Says which call failed; the message, some lines below, says why.
    pattern:
      /\bPrismaClient\w{0,40}Error\b|Invalid `(?:prisma\.|[^`\n]{1,120}\))[^`\n]{0,200}`? ?(?:invocation|\n|$)|Prisma ?Client (?:could not locate|initiali[sz]|is unable|did not)|@prisma\/client did not initialize|Prisma has detected|Prisma schema (?:validation|loading)|(?:Query|Schema|Migration) engine (?:exited|error|binary|library|process)|prisma:error|run "?prisma generate/im,
    confidence: 0.94,
  },
  {
    id: 'database/prisma-code',
    pattern:
      /(?:\bcode\\?["']?\s{0,3}[:=]\s{0,3}\\?["'`]|\bError(?: code)?:? ?|\bcode:? |\[|\(|error: )P[1-6]0\d{2}\b/,
    confidence: 0.94,
  },
  {
    id: 'database/prisma-message',
    pattern:
      /Can't reach database server|(?:Unique|Foreign key) constraint failed on the|(?:Foreign key|Unique) constraint violated|new connection from the connection pool|does not exist in the current database|(?:failed|denied) against database server|Error querying the database|does not exist on the database server|Environment variable not found: \w*DATABASE_URL|records that were required but not found|Transaction API error|Drift detected|Error validating datasource|URL must start with the protocol|No '?\w{1,60}'? ?record(?:\(s\))? (?:was |were )?found for|^(?:Unknown (?:field|argument|arg) `[^`\n]{1,80}`|Argument `[^`\n]{1,80}`(?: is missing|: Invalid value| must not))/im,
    confidence: 0.95,
  },
  {
    id: 'database/query-builder',
    pattern:
      /Failed query: |\bDrizzle(?:Query)?Error\b|\bdrizzle-kit\b.{0,80}(?:error|fail)|Pulling schema from database|\bQueryFailedError\b|\bEntityMetadataNotFoundError\b|\bEntityNotFoundError\b|\bSequelize\w{0,60}Error\b|\bKnex(?:TimeoutError)?: |\b(?:TableNotFound|(?:UniqueC|ForeignKeyC|NotNullC|CheckC|C)onstraintViolation|InvalidFieldName)Exception\b|No metadata for "\w{1,80}" was found/i,
    confidence: 0.94,
  },
  {
    id: 'database/other-languages',
    pattern:
      /\bActiveRecord::\w+|\bdjango\.db\.|\b(?:Operational|Programming|Integrity)Error\b|\bsqlalchemy\.exc\.|\bHikariPool-\d+ - |\borg\.hibernate\.\S{0,80}Exception|\bQueryException\b|\bPDOException\b|\bEcto\.\w+Error|\bDBConnection\.\w*Error|Microsoft\.EntityFrameworkCore\.\S{0,80}Exception|\bsqlx::|Doctrine\\DBAL/i,
    confidence: 0.93,
  },
  {
    id: 'database/migration',
    pattern:
      /\b(?:FlywayException|LiquibaseException)\b|Can't locate revision|\bmigrations? .{0,60}\b(?:failed|pending|could not|error|not been applied|is corrupt|(?:is|are) missing|is already locked|was modified)|\b(?:pending|failed|missing|unapplied) (?:database )?migrations?\b|MigrationLocked|migration table is already locked|(?:failed|error|unable|could not).{0,30} (?:run|running|apply|applying|to migrate)\b.{0,30}migrations?/i,
    unless: /\b0 (?:pending|failed)|[Nn]o pending/,
    confidence: 0.85,
  },
]);
