import { expect, it } from 'vitest';
import type { DiagnosedFailure } from '../../../src/core/cause.js';
import { classify } from '../../../src/core/classify/classify.js';
import type { Evidence, NetworkEntry } from '../../../src/core/evidence.js';
import { groupCauses } from '../../../src/core/group.js';
import { aTest, aTestFailure, anError, anEvidence } from '../../rig/builders.js';

let count = 0;
const origin = 'http://localhost:3000';

/** A failure with a symptom of its own. */
function failed(over: Partial<Evidence>): DiagnosedFailure {
  const id = `t${(count += 1)}`;
  const message = `TimeoutError: locator.click: Timeout 500ms exceeded.\nCall log:\n  - waiting for locator('#${id}')`;
  const evidence = anEvidence({ errors: [anError(message)], ...over });
  const failure = aTestFailure({ test: aTest(id), errors: evidence.errors });
  return { n: count, failure, evidence, diagnosis: classify(evidence), signature: id, rerunIds: [id] };
}

function request(url: string, status: number, over: Partial<NetworkEntry> = {}): NetworkEntry {
  const empty = { requestHeaders: {}, responseHeaders: {}, requestBody: null, responseBody: null };
  const sent = { time: 0, durationMs: 1, failure: null, method: 'GET', resourceType: 'document' };
  return { ...sent, ...empty, url: `${origin}${url}`, status, ...over };
}

/** A failure on the last of these pages; all before it redirected. */
function redirected(pages: readonly string[], over: Partial<NetworkEntry> = {}): DiagnosedFailure {
  const network = pages.map((url, n) => request(url, n === pages.length - 1 ? 200 : 302, over));
  return failed({ network, pageUrl: `${origin}${pages.at(-1)}#top` });
}

const called = (url: string, status: number) =>
  failed({ network: [request(url, status, { resourceType: 'fetch' })], pageUrl: `${origin}/` });

it.each<[string, DiagnosedFailure[]]>([
  [
    'different pages redirected to the same one',
    [redirected(['/orders', '/login?next=/orders']), redirected(['/', '/auth', '/login?next=/'])],
  ],
  [
    'also with two tests that asked for the same page',
    [redirected(['/', '/login']), redirected(['/', '/login']), redirected(['/orders', '/login'])],
  ],
  ['different calls that are refused without a session', [called('/api/a', 401), called('/api/b', 401)]],
])('HL-6 joins %s, as when a session has expired', (_, failures) => {
  expect(groupCauses(failures).map(({ members }) => members.length)).toEqual([failures.length]);
});

it.each<[string, DiagnosedFailure[]]>([
  ['a start page that redirects', [redirected(['/', '/home']), redirected(['/?lang=en', '/home'])]],
  ['different pages', [redirected(['/a', '/en/a']), redirected(['/b', '/en/b'])]],
  [
    'redirects that passing tests saw, too',
    [redirected(['/a', '/login'], { common: true }), redirected(['/b', '/login'], { common: true })],
  ],
  [
    'forms that lead to the same page when they are sent',
    [redirected(['/a', '/done'], { method: 'POST' }), redirected(['/b', '/done'], { method: 'POST' })],
  ],
  [
    'pages that tests have left',
    ['/a', '/b'].map((url) =>
      failed({
        network: [request(url, 302), request('/login', 200), request(`${url}/1`, 200)],
        pageUrl: `${origin}${url}/1`,
      }),
    ),
  ],
  ['calls that are forbidden', [called('/api/a', 403), called('/api/b', 403)]],
])('HL-6 keeps apart failures after %s', (_, failures) => {
  expect(groupCauses(failures)).toHaveLength(2);
});
