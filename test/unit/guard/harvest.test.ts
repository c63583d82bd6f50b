import { describe } from 'vitest';
import { harvest, harvestRequest, harvestUndecided } from '../../../fixtures/guard/harvest.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a vegetable box scheme with Nuxt, Nitro and Drizzle', () => {
  judgeEach(harvest, harvestRequest, harvestUndecided);
});
