import { describe } from 'vitest';
import { marina, marinaRequest, marinaUndecided } from '../../../fixtures/guard/marina.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a marina with Angular, NestJS and TypeORM', () => {
  judgeEach(marina, marinaRequest, marinaUndecided);
});
