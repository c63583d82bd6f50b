import { describe } from 'vitest';
import { orchestra, orchestraRequest, orchestraUndecided } from '../../../fixtures/guard/orchestra.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 an orchestra with tRPC, Prisma and React', () => {
  judgeEach(orchestra, orchestraRequest, orchestraUndecided);
});
