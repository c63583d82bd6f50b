import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ConsoleEntry, NetworkEntry, TestStep } from '../../../src/model/evidence.js';
import {
  formatExchange,
  type TimelineSource,
  buildTimeline,
  formatTimeline,
} from '../../../src/evidence/timeline.js';
import { aDiagnosis } from '../../rig/builders.js';
import { logged, request } from '../diagnose/classify-evidence.js';

const step = (time: number, title: string, over: Partial<TestStep> = {}): TestStep => ({
  time,
  durationMs: 20,
  title,
  at: 'a.spec.ts:3',
  error: null,
  log: [],
  ...over,
});
const asked = (time: number, over: Partial<NetworkEntry>): NetworkEntry =>
  request({ time, method: 'GET', resourceType: 'fetch', status: 200, failure: null, ...over });
const consoleEntry = (time: number, type: string, text: string): ConsoleEntry => logged(text, { time, type });
const recorded = (over: Partial<TimelineSource>): TimelineSource => ({
  console: [],
  network: [],
  serverOutput: '',
  pageUrl: null,
  ...over,
});
const timeline = (over: Partial<TimelineSource>, why: ReturnType<typeof aDiagnosis>['why'] = []) =>
  formatTimeline(buildTimeline(recorded(over), { diagnosis: { why } })).split('\n');

const home = 'http://localhost:3000';

it('EV-14 orders all entries by time, and marks the deciding one', () => {
  const why = aDiagnosis({
    why: [
      {
        rule: 'r',
        category: 'database-error',
        source: 'server',
        evidence: 'no such table: notes',
        confidence: 0.95,
      },
    ],
  }).why;
  const lines = timeline(
    {
      steps: [
        step(1_000, 'Navigate /'),
        step(3_000, 'Expect "toHaveText"', { durationMs: null, isFailing: true }),
      ],
      network: [
        asked(1_010, { url: `${home}/`, resourceType: 'document' }),
        asked(1_050, {
          url: `${home}/notes`,
          responseBody: '[]',
          responseHeaders: { 'content-type': 'application/json' },
          common: true,
        }),
        asked(1_060, { url: `${home}/pixel.png`, resourceType: 'image' }),
      ],
      console: [
        consoleEntry(1_070, 'log', 'loaded'),
        consoleEntry(1_080, 'dialog', 'confirm "Sure?", dismissed by Playwright'),
      ],
      serverLines: [
        { time: 1_055, text: 'Error: no such table: notes' },
        { time: 1_055, text: '    at node_modules/pg/index.js:1:1' },
        { time: 1_055, text: '    at src/notes.ts:4:2' },
      ],
    },
    why,
  );
  expect(lines).toEqual([
    '  0.000 Navigate / (a.spec.ts:3)',
    `  0.010   GET ${home}/ → 200`,
    '  0.050   GET /notes → 200 [] (also in passing tests)',
    '  0.055   [server] Error: no such table: notes ← decided',
    '          at src/notes.ts:4:2',
    '          … and 1 more',
    '  0.070   [log] loaded',
    '  0.080   [dialog] confirm "Sure?", dismissed by Playwright',
    '  2.000 Expect "toHaveText" (a.spec.ts:3, did not end) ← the test failed here',
  ]);
});

it.each<[string, Partial<NetworkEntry>, RegExp]>([
  ['a redirect', { status: 303, responseHeaders: { location: '/login' } }, / → 303 → \/login$/],
  [
    'a body that nobody read, which is no failure',
    { method: 'POST', status: 201, failure: 'net::ERR_ABORTED' },
    / → 201 \(the page did not read its body\)$/,
  ],
  ['an answer that never came', { status: null }, / → still open, no answer when the test ended$/],
  ['an answer that never ended', { isOpen: true }, / → 200, its body still open when the test ended$/],
  [
    'a cookie, by its name and attributes',
    {
      method: 'POST',
      url: `${home}/login`,
      responseHeaders: { 'set-cookie': 'a=[masked: cookie]; Domain=x\nb=[masked: value]' },
    },
    / → 200 Set-Cookie: a=\[masked: cookie\]; Domain=x Set-Cookie: b=\[masked: value\]$/,
  ],
  [
    'the start of its body and of the failed response',
    { method: 'POST', status: 500, requestBody: 'a '.repeat(200), responseBody: '<p>no table</p>' },
    /POST \S+ (?:a ){59}a ?… 279 more characters → 500 no table$/,
  ],
])('EV-14 EV-4 shows of a request %s', (_, over, line) => {
  expect(timeline({ network: [asked(0, { url: `${home}/a`, ...over })] })[0]).toMatch(line);
});

it('EV-14 after a sign-in, shows which cookies were sent with a page request', () => {
  const page = { resourceType: 'document', url: `${home}/notes` } as const;
  const lines = timeline({
    network: [
      asked(0, { url: `${home}/login`, method: 'POST', status: 303 }),
      asked(1, { ...page, status: 302 }),
      asked(2, { ...page, requestHeaders: { cookie: 'sid=[masked: cookie]; theme=[masked: value]' } }),
    ],
  });
  expect(lines[1]).toContain('GET /notes (Cookie header not sent) → 302');
  expect(lines[2]).toContain('GET /notes (cookies sent: sid, theme) → 200');
});

it('EV-16 names the host of a request unless it is the loopback', () => {
  const of = (url: string) => formatExchange(asked(0, { url }), { values: [], room: 100 });
  expect(of('https://cdn.example/img/leaf.png')).toMatch(/^GET https:\/\/cdn\.example\/img\/leaf\.png /);
  expect(of(`${home}/img/leaf.png`)).toMatch(/^GET \/img\/leaf\.png /);
});

it('EV-14 omits the cookies of responses if nobody was redirected', () => {
  const cookie = { 'set-cookie': 'csrftoken=[masked: cookie]' };
  const page = { resourceType: 'document', responseHeaders: cookie } as const;
  const lines = timeline({
    network: [
      asked(0, { ...page, url: `${home}/a`, isOpen: true }),
      asked(1, { ...page, url: `${home}/b`, status: 500 }),
      asked(2, { url: `${home}/c`, responseHeaders: cookie }),
    ],
  });
  expect(lines.join('\n')).not.toMatch(/cookie/i);
});

it('EV-14 shows a repetition within a step once, but again after another step', () => {
  const poll = (time: number) => asked(time, { url: `${home}/notes`, responseBody: '[]' });
  const steps = [step(0, 'Navigate /'), step(10, 'Click'), step(20, 'Expect', { isFailing: true })];
  const lines = timeline({ steps, network: [poll(1), poll(11), poll(21), poll(22)] });
  expect(lines.filter((line) => line.includes('/notes')).map((line) => line.slice(-9))).toEqual(
    ['→ 200 []', '→ 200 []', '(2 times)'].map((end) => expect.stringContaining(end) as string),
  );
});

it('EV-14 shows an entry of several lines in full only the last time', () => {
  const logged = ['Failed: boom', '    query: select', 'Failed: boom', '    query: select'];
  const serverLines = logged.map((text, at) => ({ time: at < 2 ? 1_100 : 2_100, text }));
  const lines = timeline({ steps: [step(1_000, 'Navigate /'), step(2_000, 'Click')], serverLines });
  expect(lines.filter((line) => line.includes('boom')).map((line) => line.slice(10))).toEqual([
    '[server] Failed: boom (in full below)',
    '[server] Failed: boom',
  ]);
  expect(lines.filter((line) => line.includes('query: select'))).toHaveLength(1);
});

it('EV-14 reads logger lines that begin with a space as separate entries', () => {
  const serverLines = [' INFO started', ' HTTP GET /', ' HTTP GET /'].map((text) => ({ time: 1_100, text }));
  const lines = timeline({ steps: [step(1_000, 'Navigate /')], serverLines });
  expect(lines.slice(1).map((line) => line.slice(10))).toEqual([
    '[server]  INFO started',
    '[server]  HTTP GET / (2 times)',
  ]);
});

it('EV-14 keeps only errors and the sign-in from before the last successful action', () => {
  const steps = [
    step(0, 'Navigate /'),
    step(100, 'Click'),
    step(200, 'Expect "toHaveText"', { isFailing: true }),
  ];
  const events = buildTimeline(
    recorded({
      steps,
      network: [asked(10, { url: `${home}/login`, method: 'POST' }), asked(20, { url: `${home}/early` })],
      console: [
        consoleEntry(30, 'pageerror', 'TypeError: x'),
        ...[1, 2, 3].map((n) => consoleEntry(40, 'log', `early ${n}`)),
      ],
    }),
    { diagnosis: { why: [] } },
  );
  const text = formatTimeline(events, 420);
  for (const part of ['/login', 'TypeError: x', 'Click', 'the test failed here'])
    expect(text).toContain(part);
  expect(text).not.toContain('early 1');
});

it('EV-11 EV-14 a timeline of any size keeps to its limit, and counts omitted entries', () => {
  const entry = fc.record({
    time: fc.nat(5_000),
    type: fc.constantFrom('log', 'error', 'dialog', 'pageerror'),
    text: fc.string({ minLength: 1, maxLength: 300 }).map((text) => text.replaceAll('[…', '')),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), fc.integer({ min: 400, max: 4_000 }), (entries, room) => {
      const events = buildTimeline(
        recorded({ console: entries.map(({ time, type, text }) => consoleEntry(time, type, text)) }),
        { diagnosis: { why: [] } },
      );
      const whole = formatTimeline(events);
      const text = formatTimeline(events, room);
      expect(text.length).toBeLessThanOrEqual(room);
      const gaps = [...text.matchAll(/^\[… (\d+) left out, (\d+) characters, in timeline\.md …\]$/gm)];
      const omitted = gaps.reduce((sum, [, , characters]) => sum + Number(characters), 0);
      const remaining = text
        .split('\n')
        .filter((line) => !line.startsWith('[… '))
        .join('\n').length;
      // The last line of a text has no line ending.
      const ends = text.split('\n').length - gaps.length === 0 ? 0 : 1;
      expect(remaining + ends + omitted).toBe(whole.length + 1);
    }),
  );
});

it('EV-14 marks a server’s error page if its text decided', () => {
  const evidence = 'Vite manifest not found at: /app/public/build/manifest.json';
  const { why } = aDiagnosis({
    why: [{ rule: 'r', category: 'build-error', source: 'server', evidence, confidence: 0.9 }],
  });
  const page = asked(1_000, {
    url: `${home}/login`,
    resourceType: 'document',
    status: 500,
    responseBody: `<html><title>Internal Server Error</title><body><h1>${evidence}</h1></body></html>`,
    responseHeaders: { 'content-type': 'text/html' },
  });
  expect(timeline({ network: [page] }, why)[0]).toMatch(/Vite manifest not found.* ← decided$/);
});

const answered = (over: Partial<NetworkEntry>) =>
  timeline({ network: [asked(1_000, { url: `${home}/api/notes`, ...over })] }).join('\n');

it.each<[string, Partial<NetworkEntry>, string]>([
  [
    'a page in place of data',
    { responseHeaders: { 'content-type': 'text/html' }, responseBody: '<!doctype html><title>App' },
    '→ 200 (text/html: <!doctype html><title>App…)',
  ],
  ['an empty body', { responseHeaders: { 'content-length': '0' } }, '→ 200 (an empty body)'],
  [
    'a compressed stream',
    {
      resourceType: 'eventsource',
      responseHeaders: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' },
    },
    '→ 200 (text/event-stream, gzip)',
  ],
  ['an answer of the test', { answeredBy: 'test' }, '→ 200 (answered by the test: route)'],
])('EV-4 a response shows its surprising parts: %s', (_, over, said) => {
  expect(answered(over)).toContain(said);
});

it('EV-4 distinguishes a service worker’s traffic, and names the route that it bypasses', () => {
  const url = `${home}/api/notes`;
  const lines = timeline({
    steps: [step(900, 'Route requests **/api/notes')],
    network: [
      asked(1_000, { url, answeredBy: 'no-server' }),
      asked(1_001, { url, isOfServiceWorker: true }),
      asked(1_002, { url: `${home}/shell.js`, isOfServiceWorker: true }),
    ],
  });
  expect(lines[1]).toContain('→ 200 (answered by the service worker)');
  expect(lines[2]).toMatch(/\[service worker\] GET .*the test's route \*\*\/api\/notes does not see/);
  expect(lines).toHaveLength(3);
});

it('EV-4 names a request that narrowly misses a route of the test', () => {
  const steps = [step(900, 'Route requests **/api/notes')];
  const said = (url: string) => timeline({ steps, network: [asked(1_000, { url })] })[1];
  expect(said(`${home}/api/notes?page=2`)).toContain("(just misses the test's route **/api/notes)");
  expect(said(`${home}/api/other`)).not.toContain('just misses');
});

it('EV-14 omits the log of a successful step, and steps within node_modules', () => {
  const lines = timeline({
    steps: [
      step(1_000, 'Click #a', { log: ['waiting for #a'] }),
      step(1_100, 'Evaluate', { at: 'node_modules/kit/index.js:3' }),
    ],
  });
  expect(lines.map((line) => line.trim())).toEqual(['0.000 Click #a (a.spec.ts:3)']);
});

it('EV-14 keeps spaces that belong to the text of a body', () => {
  const responseBody = '{"total":"1\u202F234,50"}';
  expect(answered({ responseHeaders: { 'content-type': 'application/json' }, responseBody })).toContain(
    responseBody,
  );
});
