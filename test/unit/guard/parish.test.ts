import { describe } from 'vitest';
import { parish, parishRequest, parishUndecided } from '../../../fixtures/guard/parish.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a parish with Django, Go and Laravel', () => {
  judgeEach(parish, parishRequest, parishUndecided);
});
