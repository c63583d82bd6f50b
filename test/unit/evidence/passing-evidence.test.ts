import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { ConsoleEntry, NetworkEntry } from '../../../src/core/evidence.js';
import { PassingEvidence } from '../../../src/evidence/passing-evidence.js';
import { tempDir } from '../../rig/temp-dir.js';

let file: string;
let passing: PassingEvidence;
beforeEach(() => {
  file = path.join(tempDir('complaints'), 'complaints.ndjson');
  passing = new PassingEvidence();
});

const thrown = (text: string): ConsoleEntry => ({
  time: 0,
  type: 'pageerror',
  text,
  location: '',
  stack: null,
});
const note = (test: string, text: string, over = {}) => ({
  test,
  times: 1,
  complaint: { console: text },
  ...over,
});

const ended = {
  green: new Set(['passed 1', 'passed 2', 'passed 3']),
  red: new Set(['failed 1', 'failed 2', 'failed 3']),
  symptoms: 3,
};

async function readNotes(...noted: readonly object[]): Promise<void> {
  await writeFile(file, `${noted.map((line) => JSON.stringify(line)).join('\n')}\nrubbish\n`);
  await passing.read(file, ended);
}

function marks(
  texts: readonly string[],
  message = 'Error: locator.click: Timeout 500ms exceeded.',
): boolean[] {
  const { console } = passing.mark({ console: texts.map(thrown), network: [] }, [{ message }]);
  return console.map(({ common }) => common ?? false);
}

it('CS-7 marks a complaint that passing tests have too, at most as often as one of them has it', async () => {
  const request = { method: 'GET', url: 'http://localhost:3000/a?b=1', status: 404, failure: null };
  const noted = note('passed 1', 'TypeError: x at 12:00:01', { times: 2 });
  await readNotes(noted, note('passed 1', '', { complaint: request }));
  await passing.read(`${file}.none`, { green: new Set(), red: new Set(), symptoms: 0 });
  const texts = [13, 14, 15].map((second) => `TypeError: x at 13:11:${second}`);
  expect(marks(['TypeError: y', ...texts])).toEqual([false, true, true, false]);
});

it('CS-7 does not mark a complaint if most tests with it fail, although a few pass', async () => {
  const thrownIn = (...tests: string[]) => tests.map((test) => note(test, 'TypeError: layout'));
  await readNotes(...thrownIn('failed 1', 'failed 2', 'passed 1'));
  expect(marks(['TypeError: layout'])).toEqual([false]);
  passing = new PassingEvidence();
  await readNotes(...thrownIn('failed 1', 'passed 1', 'passed 2'));
  expect(marks(['TypeError: layout'])).toEqual([true]);
});

it('CS-7 marks a complaint that all tests have, although most of them fail', async () => {
  ended.green = new Set(['passed 1']);
  await readNotes(
    ...['failed 1', 'failed 2', 'failed 3', 'passed 1'].map((test) => note(test, 'TypeError: noise')),
  );
  expect(marks(['TypeError: noise'])).toEqual([true]);
});

it.each([
  [8, 8, false],
  [8, 1, true],
  [4, 4, true],
])(
  'CS-7 a complaint of all tests, %i of 11 red with %i symptoms, is common: %s',
  async (count, symptoms, common) => {
    const red = Array.from({ length: count }, (_, n) => `red ${n}`);
    const green = Array.from({ length: 11 - count }, (_, n) => `green ${n}`);
    const noted = [...red, ...green].map((test) => JSON.stringify(note(test, 'TypeError: layout')));
    await writeFile(file, noted.join('\n'));
    await passing.read(file, { green: new Set(green), red: new Set(red), symptoms });
    expect(marks(['TypeError: layout'])).toEqual([common]);
  },
);

it.each([
  ['an exception', 'pageerror', 0, false],
  ['a message', 'error', 0, true],
  ['an exception while tests without it fail, too,', 'pageerror', 3, true],
] as const)(
  'CS-7 %s that one failing and four passing tests have is marked: %s, %i, %s',
  async (_, type, others, common) => {
    const red = ['red', ...Array.from({ length: others }, (__, n) => `other ${n}`)];
    const green = Array.from({ length: 10 }, (__, n) => `green ${n}`);
    const noted = ['red', ...green.slice(0, 4)].map((test) => JSON.stringify(note(test, 'TypeError: page')));
    await writeFile(file, noted.join('\n'));
    await passing.read(file, { green: new Set(green), red: new Set(red), symptoms: 1 });
    const entry = { ...thrown('TypeError: page'), type };
    const { console } = passing.mark({ console: [entry], network: [] }, []);
    expect(console[0]?.common ?? false).toBe(common);
  },
);

it('CS-7 does not mark a complaint that all tests have if nearly all of them fail', async () => {
  const red = Array.from({ length: 15 }, (_, n) => `red ${n}`);
  const noted = [...red, 'green'].map((test) => JSON.stringify(note(test, 'TypeError: layout')));
  await writeFile(file, noted.join('\n'));
  await passing.read(file, { green: new Set(['green']), red: new Set(red), symptoms: 1 });
  expect(marks(['TypeError: layout'])).toEqual([false]);
});

it('CS-7 counts a test once if it repeats a complaint with other digits', async () => {
  const times = ['12:00:01', '12:00:02', '12:00:03'];
  const noisy = times.map((time) => note('failed 1', `TypeError: x at ${time}`));
  await readNotes(...noisy, note('passed 1', 'TypeError: x at 12:00:04'));
  expect(marks(['TypeError: x at 12:00:05'])).toEqual([true]);
});

it('CS-7 never marks what is part of the test’s own error', async () => {
  await readNotes(note('passed 1', 'TypeError: layout is not set'));
  expect(marks(['TypeError: layout is not set'])).toEqual([true]);
  const message = 'Error: expect([…]).toEqual([])\n+ TypeError: layout is not set';
  expect(marks(['TypeError: layout is not set'], message)).toEqual([false]);
});

const refused: NetworkEntry = {
  time: 0,
  method: 'POST',
  url: 'http://localhost:3000/login',
  resourceType: 'fetch',
  status: 500,
  durationMs: 1,
  failure: null,
  requestHeaders: {},
  responseHeaders: {},
  requestBody: null,
  responseBody: '{"error":"Login failed"}',
};
const compared = (expected: string, received: string) =>
  `Error: expect(received).toContain(expected)\n\nExpected substring: "${expected}"\nReceived string:    "${received}"`;

it.each([
  ['that the test received', compared('Invalid credentials', 'Login failed'), false],
  [
    'that the test received, in color',
    compared('Invalid credentials', '\u001B[31mLogin failed\u001B[39m'),
    false,
  ],
  ['that the test expected', compared('Login failed', ''), true],
  ['that its error does not name', 'Error: locator.click: Timeout 500ms exceeded.', true],
])(
  'CS-7 an answer that passing tests get too counts if it is what the test received: %s',
  async (_, message, common) => {
    const { method, url, status, failure } = refused;
    await readNotes(note('passed 1', '', { complaint: { method, url, status, failure } }));
    const { network } = passing.mark({ console: [], network: [refused] }, [{ message }]);
    expect(network[0]?.common ?? false).toBe(common);
  },
);

it.each([
  ['fetch', true],
  ['api', false],
])(
  'CS-7 an answer that pages of passing tests got is marked for a %s request: %s',
  async (resourceType, common) => {
    const { method, url, status, failure } = refused;
    await readNotes(
      note('passed 1', '', { complaint: { method, url, resourceType: 'fetch', status, failure } }),
    );
    const { network } = passing.mark({ console: [], network: [{ ...refused, resourceType }] }, []);
    expect(network[0]?.common ?? false).toBe(common);
  },
);
