import { rulesFor } from '../../rule.js';

/** Messages of database services (PostgREST, Supabase, Firestore) and connection pools. */
export const serviceRules = rulesFor('database-error', [
  {
    id: 'database/postgrest',
    pattern:
      /\bPGRST\d{3}\b|in the schema cache|single JSON object|JSON object requested, multiple|\bPostgrestError\b|Could not find a relationship between|more than one relationship was found|schema must be one of the following/i,
    confidence: 0.96,
  },
  {
    id: 'database/supabase-auth',
    pattern: /Database error (?:saving|querying|creating|granting|finding|deleting|updating|loading)/i,
    confidence: 0.95,
  },
  {
    id: 'database/firestore',
    pattern:
      /Missing or insufficient permissions|permission_denied at \/|The query requires an index|Could not reach Cloud Firestore|No document to update: |\bFirestore (?:document|value)\b|because the client is offline/i,
    confidence: 0.85,
  },
  {
    id: 'database/pool',
    pattern:
      /timeout exceeded when trying to connect|\bdatabase\b.{0,20}connection is not available|timeout acquiring a connection|Connection terminated (?:unexpectedly|due to)|ResourceRequest timed out|QueuePool limit|(?:connection )?pool (?:is )?(?:exhausted|full|probably full|timeout|timed out)|(?:exhausted|acquir\w{1,10}|timed? ?out|full).{0,60}\bconnection pool\b|idle-transaction timeout|Pool is (?:closed|draining)/i,
    confidence: 0.9,
  },
  {
    id: 'database/connection',
    // Only the port shows that it was a database.
    pattern:
      /(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|connection refused|could not connect|can't connect|failed to connect).{0,80}:(?:5432|5433|6543|3306|3307|27017|1433|1521|54322|26257|6379|9042)\b|:(?:5432|5433|6543|3306|27017|1433|6379)\b.{0,80}(?:refused|timed out|unreachable)|\.s\.PGSQL\.\d+/i,
    confidence: 0.88,
  },
  {
    id: 'database/unreachable',
    pattern:
      /\b(?:ENOTFOUND|EAI_AGAIN) \S{0,60}(?:postgres|mysql|mongo|database|\bdb\b|redis)|"code": ?"(?:postgres-error|constraint-violation)"|"path": ?"\$[^"\n]{0,300}", ?"code": ?"(?!access-denied|invalid-)[a-z-]{4,40}"|\bNeonDbError\b|index_not_found_exception|(?:failed|unable|could not|couldn't|cannot|can't|error)(?: to)? (?:connect|connecting|reach|open)(?:ing)?(?: to)? (?:the |a |your )?(?:\w{1,30} )?database\b|\bDatabase (?:connection|query) (?:failed|error|timed out|refused|lost)|\bDatabase(?:Connection)?(?:Error|Exception)\b|^\s{0,20}(?:Error: )?database error:/im,
    confidence: 0.85,
  },
]);
