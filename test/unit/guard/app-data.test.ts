import { expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/project.mjs';
import type { Category } from '../../../src/core/diagnosis.js';
import { judge } from '../../../src/guard/judge.js';

const rooms = 'src/content/rooms.json';

/** What the guard says of a change of data that the tests were seen to read, in an app with this file of code. */
async function judgedData(
  file: string,
  code: Edit,
  { category = 'ui-error', edits = [] }: { category?: Category; edits?: readonly Edit[] } = {},
) {
  const request = requestOf([[file, '{ "rooms": 4 }'], ...edits], category, [[file, '{ "rooms": 3 }'], code]);
  const { violations, notes } = await judge({ ...request, suite: { ...request.suite, loaded: [file] } });
  return { rules: violations.map(({ rule }) => rule), noted: notes.map((one) => one.file) };
}

it.each([
  ['an import', 'src/rooms.ts', "import rooms from './content/rooms.json';"],
  ['a server that reads it', 'server.mjs', "app.get('/', () => readFileSync('src/content/rooms.json'));"],
  ['a pattern of its folder', 'src/all.ts', "export const all = import.meta.glob('./content/*.json');"],
  ['a name in its folder', 'src/one.ts', 'export const one = (id) => import(`./content/${id}.json`);'],
])('HN-4 data that tests and app read are the app’s, and named for the reviewer: %s', async (_, ...code) => {
  expect(await judgedData(rooms, code)).toEqual({ rules: [], noted: [rooms] });
  expect(await judgedData(rooms, code, { category: 'runtime-error' })).toEqual({ rules: [], noted: [rooms] });
});

it.each([
  ['no code of the app names them', rooms, 'src/rooms.ts', "export const content = 'rooms';"],
  ['only tests name them', rooms, 'src/rooms.spec.ts', "import rooms from './content/rooms.json';"],
  [
    'only a helper that knows Playwright does',
    rooms,
    'shared/rooms.ts',
    "import '@playwright/test';\nimport '../src/content/rooms.json';",
  ],
  ['they lie among the tests', 'tests/data/rooms.json', 'src/rooms.ts', "import '../tests/data/rooms.json';"],
])('HN-4 data that the tests read are theirs: %s', async (_, file, ...code) => {
  expect((await judgedData(file, code)).rules).toEqual(['test-data-changed']);
  expect((await judgedData(file, code, { category: 'runtime-error' })).rules).toEqual(['tests-read-only']);
});

it('HN-4 a change cannot make data of the tests the app’s', async () => {
  const edits: readonly Edit[] = [['src/new.ts', "import rooms from './content/rooms.json';"]];
  expect((await judgedData(rooms, ['src/old.ts', 'export {};'], { edits })).rules).toEqual([
    'test-data-changed',
  ]);
});
