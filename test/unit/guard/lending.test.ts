import { describe } from 'vitest';
import { lending, lendingRequest, lendingUndecided } from '../../../fixtures/guard/lending.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a library with a Vue catalog, a Svelte kiosk and an API', () => {
  judgeEach(lending, lendingRequest, lendingUndecided);
});
