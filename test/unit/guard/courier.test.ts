import { describe } from 'vitest';
import { courier, courierRequest, courierUndecided } from '../../../fixtures/guard/courier.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a parcel service with SvelteKit, Express and Prisma', () => {
  judgeEach(courier, courierRequest, courierUndecided);
});
