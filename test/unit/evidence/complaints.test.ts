import { expect, it } from 'vitest';
import type { ConsoleEntry } from '../../../src/core/evidence.js';
import { markCommon, type Passing, readPassing } from '../../../src/evidence/complaints.js';
import { aTest } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';
import { aConsoleEntry, aRequest } from './rig/failures.js';
import { type TraceParts, writeTrace } from './rig/write-trace.js';

const thrown = (text: string): ConsoleEntry => aConsoleEntry({ type: 'pageerror', text });
const timeout = 'Error: locator.click: Timeout 500ms exceeded.';

/** A passing test of the same file, with what its trace has. */
async function passing(parts: TraceParts, over = {}): Promise<Passing> {
  const { path } = writeTrace(tempDir(), parts);
  const { complaints, requests } = await readPassing(path);
  return { test: { ...aTest(), id: 'green', ...over }, complaints, requests };
}

/** Whether each of these messages of the failing test is common. */
function marks(texts: readonly string[], neighbours: readonly Passing[], message = timeout): boolean[] {
  const failing = { test: aTest(), errors: [{ message }] };
  const { console } = markCommon({ console: texts.map(thrown), network: [] }, failing, neighbours);
  return console.map(({ common }) => common ?? false);
}

it('CS-7 marks a complaint that a passing test of the file has too, at most as often', async () => {
  const twice = ['12:00:01', '12:00:02'].map((time) => thrown(`TypeError: x at ${time}`));
  const green = await passing({ console: twice });
  const texts = [13, 14, 15].map((second) => `TypeError: x at 13:11:${second}`);
  expect(marks(['TypeError: y', ...texts], [green])).toEqual([false, true, true, false]);
});

it('CS-7 does not mark what only passing tests of other files have, or of another project', async () => {
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

it('CS-7 never marks what is part of the test’s own error', async () => {
  const green = await passing({ console: [thrown('TypeError: layout is not set')] });
  expect(marks(['TypeError: layout is not set'], [green])).toEqual([true]);
  const message = 'Error: expect([…]).toEqual([])\n+ TypeError: layout is not set';
  expect(marks(['TypeError: layout is not set'], [green], message)).toEqual([false]);
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
  [
    'that it received, in color',
    compared('Invalid credentials', '\u001B[31mLogin failed\u001B[39m'),
    'fetch',
    false,
  ],
  ['that the test expected', compared('Login failed', ''), 'fetch', true],
  ['that its error does not name', timeout, 'fetch', true],
  ['to a request of its own', timeout, 'api', false],
])(
  'CS-7 an answer that pages of passing tests get, too, is common unless it is one %s',
  async (_, message, resourceType, common) => {
    const green = await passing({ network: [{ ...refused, url: 'http://localhost:3000/login?n=2' }] });
    const failing = { test: aTest(), errors: [{ message }] };
    const { network } = markCommon({ console: [], network: [{ ...refused, resourceType }] }, failing, [
      green,
    ]);
    expect(network[0]?.common ?? false).toBe(common);
  },
);

it('CS-7 takes note of redirects and open calls of passing tests, but not of what succeeds', async () => {
  const network = [
    aRequest({ url: 'http://x/orders', resourceType: 'document', status: 302 }),
    aRequest({ url: 'http://x/poll', status: null }),
    aRequest({ url: 'http://x/ok' }),
  ];
  const console = [
    aConsoleEntry({ type: 'warning', text: '[Vue warn]: no cart' }),
    aConsoleEntry({ text: 'hello' }),
  ];
  const { complaints } = await passing({ network, console });
  expect([...complaints.keys()]).toEqual([
    'console [Vue warn]: no cart',
    'page GET http://x/orders → 302',
    'page GET http://x/poll → no answer until the test ended',
  ]);
});
