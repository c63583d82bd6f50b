import { describe } from 'vitest';
import { festival, festivalRequest, festivalUndecided } from '../../../fixtures/guard/festival.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a ticket shop with Next.js, Hono, Drizzle and webpack', () => {
  judgeEach(festival, festivalRequest, festivalUndecided);
});
