import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { failing, locatorTimeout, request } from './classify-evidence.js';

const serverOutput = 'POST /api/orders failed: new row violates row-level security policy for table "orders"';
const answered = request({ method: 'GET', status: 200 });

it('CS-8 what the server says while this page got all its answers is the business of another test', () => {
  expect(classify(failing(locatorTimeout, { serverOutput, network: [answered] })).category).toBe('ui-error');
});

it('CS-7 what the server says counts when a request of this page failed', () => {
  const network = [answered, request()];
  const diagnosis = classify(failing(locatorTimeout, { serverOutput, network }));
  expect(diagnosis.alternatives).toContain('ui-error');
  expect(diagnosis.category).toBe('database-error');
});

it('CS-2 what the server says counts where no page was seen', () => {
  const message = 'Error: apiRequestContext.post: 500 Internal Server Error';
  expect(classify(failing(message, { serverOutput, pageUrl: null })).category).toBe('database-error');
});

it.each([
  ['that it expects', 'Error: expect(received).toEqual(expected)', 'ui-error'],
  [
    'that it fails of',
    'Error: expect(received).toBe(expected)\n\nExpected: 200\nReceived: 404',
    'database-error',
  ],
])(
  'CS-8 a refusal of what the test itself asked for counts only where it is one %s',
  (_, message, category) => {
    const network = [request({ resourceType: 'api', status: 404 })];
    expect(classify(failing(message, { serverOutput, network, pageUrl: null })).category).toBe(category);
  },
);
