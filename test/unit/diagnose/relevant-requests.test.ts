import { expect, it } from 'vitest';
import {
  chooseRelevantRequests,
  clipAround,
  findDecidingResponse,
} from '../../../src/diagnose/relevant-requests.js';
import { classify } from '../../../src/diagnose/classify.js';
import { describeFailure } from '../../../src/diagnose/headline.js';
import type { Evidence, NetworkEntry } from '../../../src/model/evidence.js';
import { aDiagnosed, aTestFailure, anError, anEvidence } from '../../rig/builders.js';
import { failing, request } from './classify-evidence.js';

const api = (method: string, path: string, over: Partial<NetworkEntry> = {}): NetworkEntry =>
  request({ method, url: `http://localhost:3000${path}`, resourceType: 'api', status: 200, ...over });
const equality = (expected: string, received: string) =>
  `Error: expect(received).toEqual(expected) // deep equality\n\nExpected: ${expected}\nReceived: ${received}`;
const ofApi = (message: string, network: readonly NetworkEntry[]): Evidence =>
  anEvidence({ errors: [anError(message)], pageUrl: null, network: [...network] });
const chosen = (evidence: Evidence) =>
  chooseRelevantRequests(evidence, []).map(({ method, url }) => `${method} ${url.slice(21)}`);
const headlineIn = (evidence: Evidence) =>
  describeFailure(aDiagnosed({ failure: aTestFailure(), evidence, diagnosis: classify(evidence) }));

const alerts = api('GET', '/api/alerts?status=pending', { responseBody: '[{"id":4,"status":"dismissed"}]' });
const bulk = api('PUT', '/api/reminders/bulk', { responseBody: '{"ok":true}' });
const reminded = api('GET', '/api/reminders?hasReminder=true', { responseBody: '[]' });
const other = api('GET', '/api/health', { responseBody: '{"ok":true}' });

it.each([
  [
    'its response contradicts its query',
    ofApi(equality('[]', '[{}]'), [alerts, other]),
    ['GET /api/alerts?status=pending'],
  ],
  [
    'it is empty, after the request that wrote',
    ofApi(equality('1', '0'), [bulk, reminded]),
    ['PUT /api/reminders/bulk', 'GET /api/reminders?hasReminder=true'],
  ],
  [
    'its response has the received value',
    ofApi(equality('"12.00"', '"15.00"'), [
      api('GET', '/api/cart', { responseBody: '{"total":"15.00"}' }),
      other,
    ]),
    ['GET /api/cart'],
  ],
] as const)('EV-16 finds the request behind an assertion: %s', (_, evidence, expected) => {
  expect(chosen(evidence)).toEqual(expected);
});

it('EV-16 an empty or unread response does not explain an assertion on the URL', () => {
  const message = 'Error: expect(page).toHaveURL(expected) failed\n\nExpected: "/a"\nReceived: "/b"';
  const unread = { ...reminded, responseBody: null };
  expect(chosen(ofApi(message, [reminded, other, { ...other, resourceType: 'fetch' }]))).toEqual([]);
  expect(chosen(ofApi(equality('1', '0'), [unread, { ...other, resourceType: 'fetch' }]))).toEqual([]);
});

it('EV-16 RP-1 the headline shows the wrong response', () => {
  expect(headlineIn(ofApi(equality('[]', '[{}]'), [alerts]))).toMatch(
    /^GET \/api\/alerts\?status=pending → "status":"dismissed" — toEqual/,
  );
});

it('RP-1 the headline of a refused request quotes its response', () => {
  const body = '{"errors":[{"path":"price","message":"must be one of EUR, USD"}]}';
  const entry = request({ status: 422, responseBody: body });
  expect(headlineIn(failing('Error: expect(received).toBe(expected)', { network: [entry] }))).toMatch(
    /^POST \/api\/orders → 422 must be one of EUR, USD/,
  );
});

it('RP-1 the headline repeats no sentence', () => {
  const responseBody = '{"errors":[{"message":"No field nick"}]}';
  const failure = '200 with GraphQL error: No field nick';
  const entry = request({ url: 'http://localhost:3000/graphql', status: null, failure, responseBody });
  const headline = headlineIn(failing('Error: expect(received).toBe(expected)', { network: [entry] }));
  expect(headline.match(/No field nick/g)).toHaveLength(1);
});

it('RP-1 the headline names the dialog that the test did not handle', () => {
  const text = 'confirm "Really delete Milk?", dismissed by Playwright: the test has no handler for it';
  const console = [{ time: 0, type: 'dialog', text, location: '', stack: null }];
  const count = failing('Error: expect(locator).toHaveCount(expected) failed', { console });
  expect(headlineIn(count)).toMatch(/^confirm "Really delete Milk\?", dismissed by Playwright/);
  const answered = text.replace(/dismissed by.*/, 'closed by the test (Accept dialog)');
  const closed = { ...count, console: [{ ...console[0], text: answered }] } as Evidence;
  expect(headlineIn(closed)).not.toContain('Really');
});

it('RP-1 the headline names the cookie that the browser rejected, unless it was sent', () => {
  const page = (path: string, status: number, over: Partial<NetworkEntry> = {}) =>
    api('GET', path, { resourceType: 'document', status, ...over });
  const set = { 'set-cookie': 'theme=dark\nsid=[masked: session]; Domain=localhost; Path=/' };
  const login = page('/login', 303, { method: 'POST', responseHeaders: set });
  const turned = (cookie: string) => page('/team', 302, { requestHeaders: { cookie } });
  const missing = (cookie: string) =>
    headlineIn(failing('Error: expect(locator).toBeVisible() failed', { network: [login, turned(cookie)] }));
  expect(missing('theme=dark')).toMatch(
    /^POST \/login set the cookie sid \(Domain=localhost; Path=\/\), which GET \/team did not send/,
  );
  expect(missing('theme=dark; sid=1')).not.toContain('cookie');
});

it('RP-1 the headline names the open request that keeps a page from becoming idle', () => {
  const open = api('GET', '/api/log', { resourceType: 'fetch', isOpen: true });
  const waiting = 'Error: page.goto: Timeout\nCall log:\n  - navigating to "/", waiting until "networkidle"';
  expect(headlineIn(failing(waiting, { network: [open, other] }))).toMatch(
    /^GET \/api\/log → 200, its body still open — /,
  );
});

it('CS-4 a test that sends requests without a page is no ui-error', () => {
  const evidence = ofApi(equality('1', '2'), [other]);
  expect(classify(evidence)).toMatchObject({
    category: 'runtime-error',
    why: [{ category: 'runtime-error' }],
  });
});

it('CS-5 errors[] in a REST response are not GraphQL errors', () => {
  const body = '{"errors":[{"path":"price","message":"must be one of EUR, USD"}]}';
  const { why } = classify(failing('Error: x', { network: [request({ status: 422, responseBody: body })] }));
  expect(why.map(({ rule }) => rule)).not.toContain('network/graphql');
});

it('CS-1 a repeat count in a call log is not a compiler’s marker', () => {
  const log = 'Error: expect(locator).toHaveText(expected) failed\n\nCall log:\n  3 × unexpected value "a"';
  expect(classify(failing(log)).category).toBe('ui-error');
});

it('HL-6 two failures that one response decided have the same deciding response', () => {
  const failed = (message: string) => {
    const evidence = ofApi(message, [bulk, reminded]);
    return aDiagnosed({ failure: aTestFailure(), evidence, diagnosis: classify(evidence) });
  };
  expect([failed(equality('1', '0')), failed(equality('2', '0'))].map(findDecidingResponse)).toEqual([
    'GET /api/reminders',
    'GET /api/reminders',
  ]);
});

it('EV-11 a body is shortened around the asserted value, and says how much is left out', () => {
  const body = `${'x'.repeat(500)}"status":"dismissed"${'y'.repeat(500)}`;
  const cut = clipAround(body, ['dismissed'], 100);
  expect(cut).toContain('"status":"dismissed"');
  expect(cut).toMatch(/^\d+ characters… .{100}… \d+ more characters$/);
});
