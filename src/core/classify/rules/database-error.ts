import { frameRules } from './database/frames.js';
import { mapperRules } from './database/mappers.js';
import { onPageRules } from './database/on-page.js';
import { otherEngineRules } from './database/other-engines.js';
import { otherLocaleRules } from './database/other-locales.js';
import { postgresRules } from './database/postgres.js';
import { serviceRules } from './database/services.js';

/** A database, its driver, its mapper or its service speaks (CS-2). */
export const databaseErrorRules = [
  ...postgresRules,
  ...otherEngineRules,
  ...mapperRules,
  ...serviceRules,
  ...otherLocaleRules,
  ...frameRules,
  ...onPageRules,
];
