import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatRequest } from '../../../src/diagnose/requests.js';
import type { Reason } from '../../../src/model/diagnosis.js';
import { type ConsoleEntry, type NetworkEntry } from '../../../src/model/evidence.js';
import { createFailureShape, readJsonLines } from '../../../src/evidence/classify-input.js';
import {
  type PassingTrace,
  createConsoleKey,
  markCommonEntries,
  readPassingTrace,
  createRequestKey,
} from '../../../src/evidence/passing-tests.js';
import { findRemainingReasons } from '../../../src/evidence/passing-tests.js';
import { formatJsonEntry } from '../../../src/evidence/server-log.js';
import { aDiagnosis, aTest, anEvidence, failing } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';
import { aConsoleEntry, aRequest } from './rig/failures.js';
import { type TraceParts, writeTrace } from './rig/write-trace.js';

const thrown = (text: string): ConsoleEntry => aConsoleEntry({ type: 'pageerror', text });
const timeout = 'Error: locator.click: Timeout 500ms exceeded.';

/** A passing test of the same file, with what its trace has. */
async function passing(parts: TraceParts, over = {}): Promise<PassingTrace> {
  const { path } = writeTrace(tempDir(), parts);
  const { picture: _, ...read } = await readPassingTrace(path);
  return { test: { ...aTest(), id: 'green', ...over }, ...read };
}

/** Whether each of these messages of the failing test is common. */
function marks(texts: readonly string[], neighbors: readonly PassingTrace[], message = timeout): boolean[] {
  const failing = { test: aTest(), errors: [{ message }] };
  const { console } = markCommonEntries({ console: texts.map(thrown), network: [] }, failing, neighbors);
  return console.map(({ common }) => common ?? false);
}

it('CS-7 marks a complaint at most as often as a passing test of the same file has it', async () => {
  const twice = ['12:00:01', '12:00:02'].map((time) => thrown(`TypeError: x at ${time}`));
  const green = await passing({ console: twice });
  const texts = [13, 14, 15].map((second) => `TypeError: x at 13:11:${second}`);
  expect(marks(['TypeError: y', ...texts], [green])).toEqual([false, true, true, false]);
});

it('CS-7 does not mark complaints of passing tests in other files or another project', async () => {
  const { location } = aTest();
  const console = [thrown('TypeError: layout')];
  const other = await passing(
    { console },
    { location: { ...location, file: '/project/tests/other.spec.ts' } },
  );
  const project = await passing({ console }, { project: 'other' });
  expect(marks(['TypeError: layout'], [other, project])).toEqual([false]);
  expect(marks(['TypeError: layout'], [])).toEqual([false]);
});

it('CS-7 without passing tests in a file, marks hosts that tests elsewhere cannot reach', async () => {
  const entry = aRequest({
    url: 'https://stats.shop.example/hit',
    status: null,
    failure: 'net::ERR_NAME_NOT_RESOLVED',
  });
  const location = { ...aTest().location, file: '/project/tests/other.spec.ts' };
  const other = await passing({ network: [entry] }, { location });
  const failing = { test: aTest(), errors: [{ message: timeout }] };
  const marked = (passing: readonly PassingTrace[]) =>
    markCommonEntries({ console: [], network: [entry] }, failing, passing).network[0]?.common;
  expect([marked([other]), marked([]), marked([await passing({}), other])]).toEqual([true, undefined, false]);
});

it('CS-7 marks each request to a host that a passing test cannot reach, except its own server', async () => {
  const twice = (url: string, failure: string) =>
    [1, 2].map((time) => aRequest({ time, url, status: null, failure }));
  const fonts = twice('https://fonts.example/css', 'net::ERR_NAME_NOT_RESOLVED');
  const own = twice('http://localhost:3000/api', 'net::ERR_CONNECTION_REFUSED');
  const green = await passing({ network: [...fonts.slice(1), ...own.slice(1)] });
  const failing = { test: aTest(), errors: [{ message: timeout }] };
  const { network } = markCommonEntries({ console: [], network: [...fonts, ...own] }, failing, [green]);
  expect(network.map(({ common }) => common)).toEqual([true, true, true, false]);
});

const refused = aRequest({
  method: 'POST',
  url: 'http://localhost:3000/login?n=1',
  status: 500,
  responseBody: '{"error":"Login failed"}',
});
const compared = (expected: string, received: string) =>
  `Error: expect(received).toContain(expected)\n\nExpected substring: "${expected}"\nReceived string:    "${received}"`;

it.each([
  ['that the test received', compared('Invalid credentials', 'Login failed'), 'fetch', false],
  ['that the test expected', compared('Login failed', ''), 'fetch', true],
  ['that its error does not name', timeout, 'fetch', true],
  ['to a request of its own', timeout, 'api', false],
])(
  'CS-7 a response that passing tests get too counts as common unless it is one %s',
  async (_, message, resourceType, common) => {
    const green = await passing({ network: [{ ...refused, url: 'http://localhost:3000/login?n=2' }] });
    const failing = { test: aTest(), errors: [{ message }] };
    const { network } = markCommonEntries({ console: [], network: [{ ...refused, resourceType }] }, failing, [
      green,
    ]);
    expect(network[0]?.common ?? false).toBe(common);
  },
);

describe('remaining reasons for a failure', () => {
  const reason = (source: Reason['source'], evidence: string): Reason => ({
    rule: `runtime/${source}`,
    category: 'runtime-error',
    source,
    evidence,
    confidence: 0.9,
  });
  const thrown = "TypeError: Cannot read properties of undefined (reading 'id')";
  const entry: NetworkEntry = {
    method: 'GET',
    url: 'http://localhost:3000/api/orders?page=1',
    status: 500,
    failure: null,
    time: 0,
    durationMs: 5,
    resourceType: 'fetch',
    requestHeaders: {},
    responseHeaders: {},
    requestBody: null,
    responseBody: null,
  };
  const failingWith = (sent: NetworkEntry) =>
    failing('t1', 'boom', {
      diagnosis: aDiagnosis({
        category: 'runtime-error',
        why: [
          reason('console', `Uncaught ${thrown}`),
          reason('network', formatRequest(sent)),
          reason('server', 'TypeError: order 4711001 has no lines'),
          reason('error', 'Error: locator.click: Timeout 500ms exceeded.'),
        ],
      }),
      evidence: anEvidence({
        console: [{ time: 0, type: 'pageerror', text: thrown, location: '', stack: null }],
        network: [sent],
      }),
    });

  /** The sources of the reasons that are left after a run with these complaints of the page and this output of the server. */
  async function sourcesLeft(
    complaints: readonly (string | NetworkEntry)[],
    server: string,
    failure = failingWith(entry),
  ): Promise<string[]> {
    const serverLog = path.join(tempDir('reasons'), 'server.log');
    writeFileSync(serverLog, `1700000000000 ${server}\n`);
    const keys = complaints.map((complaint) =>
      typeof complaint === 'string' ? createConsoleKey(complaint) : createRequestKey(complaint),
    );
    const reasons = await findRemainingReasons(new Map([[failure, new Map(keys.map((key) => [key, 1]))]]), {
      serverLog,
    });
    return reasons.get(failure)?.map(({ source }) => source) ?? [];
  }

  it('HN-3 keeps a reason that the page, network or server still gives although the test passes', async () => {
    const other = { ...entry, url: entry.url.replace('page=1', 'page=2') };
    expect(await sourcesLeft([thrown, other], 'TypeError: order 4711002 has no lines')).toEqual([
      'console',
      'network',
      'server',
    ]);
  });

  it('HN-3 drops a reason that is gone or that came only from the error', async () => {
    const answered = { ...entry, status: 404 };
    expect(await sourcesLeft(['TypeError: another', answered], 'listening')).toEqual([]);
  });
});

const stack = 'Error: no table\n    at list (server/books.js:7:20)';

it.each([
  [
    'pino’s entry of a request that failed',
    {
      level: 50,
      time: 1,
      pid: 2,
      hostname: 'vm',
      req: { url: '/books' },
      err: { type: 'E', message: 'no table', stack, code: '42P01' },
      msg: 'no table',
    },
    `error: { req: { url: '/books' } }\n${stack} { code: '42P01' }`,
  ],
  ['an entry without an error', { level: 30, pid: 2, msg: 'listening' }, 'listening'],
  [
    'an error without a stack',
    { level: 60, msg: 'cannot start', err: { message: 'no table' } },
    'fatal: cannot start\nno table',
  ],
])('EV-7 reads a server’s log in JSON as Node’s output: %s', (_, entry, expected) => {
  expect(formatJsonEntry(JSON.stringify(entry))).toBe(expected);
  expect(formatJsonEntry(`[api] ${JSON.stringify(entry)}`)).toBe(`[api] ${expected}`);
});

it.each(['{ not JSON }', 'GET /books {"id":3}', ''])('EV-7 leaves any other line as it is: %s', (line) => {
  expect(formatJsonEntry(line)).toBe(line);
});

describe('CL-8 the input of classify', () => {
  const read = (text: string) => readJsonLines(text, createFailureShape('/project'), 'an error');

  it('CL-8 reads console lines as strings, and gives missing values neutral defaults', () => {
    const record = {
      id: 7,
      error: 'no',
      console: ['one', { type: 'warning', text: 'two', time: 'now' }],
      network: [{ method: 'POST', url: '/a', status: 404 }],
      serverOutput: 3,
    };
    const records = read(`${JSON.stringify(record)}\n\n`);
    expect(records).toMatchObject({
      value: [
        {
          id: '7',
          evidence: {
            errors: [{ message: 'no', stack: null }],
            console: [
              { type: 'error', text: 'one' },
              { type: 'warning', text: 'two', time: 0 },
            ],
            network: [{ method: 'POST', url: '/a', status: 404, failure: null }],
            serverOutput: '',
            rootDir: '/project',
          },
        },
      ],
    });
  });

  it.each([
    ['a line that is not JSON', '{"error":"a"}\n\n{oops', /^line 3 /],
    ['a line without an error', '{"error":"a"}\n{"message":"b"}', /^line 2 /],
  ])('CL-8 says where it stopped at %s', (_, text, message) => {
    const result = read(text);
    expect(!result.ok && result.error).toMatchObject({
      kind: 'input-unreadable',
      message: expect.stringMatching(message),
    });
    expect(!result.ok && result.error.detail).toBeTruthy();
  });
});
