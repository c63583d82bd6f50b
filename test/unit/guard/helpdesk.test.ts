import { describe } from 'vitest';
import { helpdesk, helpdeskRequest, helpdeskUndecided } from '../../../fixtures/guard/helpdesk.mjs';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a help desk with page objects, a setup project, API, component and screenshot tests', () => {
  judgeEach(helpdesk, helpdeskRequest, helpdeskUndecided);
});
