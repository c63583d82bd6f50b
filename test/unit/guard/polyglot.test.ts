import { describe } from 'vitest';
import { polyglot, polyglotRequest, polyglotUndecided } from '../../../fixtures/guard/polyglot.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 apps with a server in Python, Go, Ruby, PHP or Java', () => {
  judgeEach(polyglot, polyglotRequest, polyglotUndecided);
});
