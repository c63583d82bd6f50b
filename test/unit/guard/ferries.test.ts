import { describe } from 'vitest';
import { ferries, ferriesRequest, ferriesUndecided } from '../../../fixtures/guard/ferries.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 ferries with Rails and Spring Boot', () => {
  judgeEach(ferries, ferriesRequest, ferriesUndecided);
});
