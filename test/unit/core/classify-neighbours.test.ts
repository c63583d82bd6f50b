import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import type { NetworkEntry } from '../../../src/core/evidence.js';
import { anError, anEvidence } from '../../rig/builders.js';

const request = (over: Partial<NetworkEntry>): NetworkEntry => ({
  time: 0,
  method: 'GET',
  url: 'http://127.0.0.1:4317/api/products',
  resourceType: 'fetch',
  status: 200,
  durationMs: 5,
  failure: null,
  requestHeaders: {},
  responseHeaders: {},
  requestBody: null,
  responseBody: null,
  ...over,
});
const notFound = anError(
  "TimeoutError: locator.click: Timeout 2500ms exceeded.\nCall log:\n  - waiting for locator('#buy')",
);
const serverOutput = 'POST /api/orders failed: new row violates row-level security policy for table "orders"';
const page = { errors: [notFound], serverOutput, pageUrl: 'http://127.0.0.1:4317/cart' };

it('CS-8 what the server says while this page got all its answers is the business of another test', () => {
  expect(classify(anEvidence({ ...page, network: [request({})] })).category).toBe('ui-error');
});

it('CS-7 what the server says counts when a request of this page failed', () => {
  const failed = request({ method: 'POST', url: 'http://127.0.0.1:4317/api/orders', status: 500 });
  const diagnosis = classify(anEvidence({ ...page, network: [request({}), failed] }));
  expect([diagnosis.category, ...diagnosis.alternatives]).toEqual(
    expect.arrayContaining(['database-error', 'ui-error']),
  );
  expect(diagnosis.category).toBe('database-error');
});

it('CS-2 what the server says counts where no page was seen', () => {
  const errors = [anError('Error: apiRequestContext.post: 500 Internal Server Error')];
  expect(classify(anEvidence({ errors, serverOutput })).category).toBe('database-error');
});
