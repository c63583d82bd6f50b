import { rulesFor } from '../../rule.js';

/**
 * What a database said, shown by the page itself: a framework's error page, or an app that prints the error it got. A page's text is content, so only whole
 * sentences of databases count, with the names that they complain of.
 */
export const onPageRules = rulesFor('database-error', [
  {
    id: 'database/said-on-page',
    sources: ['page'],
    pattern:
      /violates row-level security policy for table \\?"\w|\b(?:relation|column) \\?"[\w.]{1,63}\\?"(?: of relation \\?"[\w.]{1,63}\\?")? does not exist|violates (?:unique|foreign key|not-null|check) constraint|\bpermission denied for (?:table|relation|schema|sequence) \w|\bno such (?:table|column): \w|\b(?:UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed: \w|\bTable '[\w.]{1,128}' doesn't exist|\bUnknown column '[\w.]{1,128}' in '|\bDuplicate entry '.{0,128}' for key '|\bE11000 duplicate key error|\bSQLSTATE\[\w{5}\]|\bInvalid `prisma\.\w{1,63}\.\w{1,63}\(\)` invocation/,
    confidence: 0.8,
  },
]);
