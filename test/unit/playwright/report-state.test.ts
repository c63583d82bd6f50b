import { expect, it } from 'vitest';
import type { TestFailure } from '../../../src/core/failure.js';
import { addLine, emptyReport } from '../../../src/playwright/report-state.js';
import { anError, aTestFailure } from '../../rig/builders.js';

const trace = { name: 'trace', contentType: 'application/zip', path: '/results/trace.zip' };
const refused = anError('Error: connect ECONNREFUSED 127.0.0.1:5602');
const duplicate = anError('Error: duplicate key value violates unique constraint "one_open_loan"');

it.each<[string, Partial<TestFailure>, Partial<TestFailure>, string]>([
  [
    'the first one',
    { capture: '/run/t-0.json' },
    { capture: '/run/t-2.json', attachments: [trace] },
    refused.message,
  ],
  ['the first one if nothing was recorded', {}, {}, refused.message],
  [
    'the one that was traced, if nothing was recorded of the first',
    {},
    { attachments: [trace] },
    duplicate.message,
  ],
])('EV-1 of a test’s failed tries, %s tells why', (_, first, last, message) => {
  const state = emptyReport();
  const tries = [
    aTestFailure({ retry: 0, errors: [refused], capture: null, attachments: [], ...first }),
    aTestFailure({ retry: 1, errors: [duplicate], capture: null, attachments: [], ...last }),
  ];
  for (const failure of tries) addLine(state, { type: 'failed-try', failure });
  expect([...state.tries.values()].map(({ errors }) => errors[0]?.message)).toEqual([message]);
});
