import { describe } from 'vitest';
import { invoices, invoicesRequest, invoicesUndecided } from '../../../fixtures/guard/invoices.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 invoices with Express, Mongoose and React', () => {
  judgeEach(invoices, invoicesRequest, invoicesUndecided);
});
