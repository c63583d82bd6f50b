import { expect, it } from 'vitest';
import { addLine, emptyReport } from '../../../src/playwright/report-state.js';
import { anError, aTestFailure } from '../../rig/builders.js';

it('EV-1 of a test’s failed tries, the first one tells why, even if a later one was traced', () => {
  const trace = { name: 'trace', contentType: 'application/zip', path: '/results/trace.zip' };
  const state = emptyReport();
  const tries = [
    aTestFailure({ retry: 0, errors: [anError('Error: connect ECONNREFUSED 127.0.0.1:5602')] }),
    aTestFailure({ retry: 1, errors: [anError('Error: duplicate key value')], attachments: [trace] }),
  ];
  for (const failure of tries) addLine(state, { type: 'failed-try', failure });
  expect([...state.tries.values()]).toEqual([tries[0]]);
});
