import { describe } from 'vitest';
import { auction, auctionRequest, auctionUndecided } from '../../../fixtures/guard/auction.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 an auction house with React Router and SQL', () => {
  judgeEach(auction, auctionRequest, auctionUndecided);
});
