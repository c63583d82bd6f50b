import { expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import type { Category } from '../../../src/core/diagnosis.js';
import { judge } from '../../../src/guard/judge.js';

const rooms = 'src/content/rooms.json';

/** What the guard says about a change to data that the tests read, in an app with this source file. */
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
  ['a glob in its folder', 'src/all.ts', "export const all = import.meta.glob('./content/*.json');"],
  [
    'a dynamic import from its folder',
    'src/one.ts',
    'export const one = (id) => import(`./content/${id}.json`);',
  ],
])(
  'HN-4 counts data that both tests and app read as the app’s, and names it for the reviewer: %s',
  async (_, ...code) => {
    expect(await judgedData(rooms, code)).toEqual({ rules: [], noted: [rooms] });
    expect(await judgedData(rooms, code, { category: 'runtime-error' })).toEqual({
      rules: [],
      noted: [rooms],
    });
  },
);

it.each([
  ['no code of the app names it', rooms, 'src/rooms.ts', "export const content = 'rooms';"],
  ['only tests name it', rooms, 'src/rooms.spec.ts', "import rooms from './content/rooms.json';"],
  [
    'only a helper that imports Playwright names it',
    rooms,
    'shared/rooms.ts',
    "import '@playwright/test';\nimport '../src/content/rooms.json';",
  ],
  ['it is among the tests', 'tests/data/rooms.json', 'src/rooms.ts', "import '../tests/data/rooms.json';"],
])('HN-4 counts data that the tests read as theirs: %s', async (_, file, ...code) => {
  expect((await judgedData(file, code)).rules).toEqual(['test-data-changed']);
  expect((await judgedData(file, code, { category: 'runtime-error' })).rules).toEqual(['tests-read-only']);
});

it('HN-4 does not count test data as the app’s because a change makes the app read it', async () => {
  const edits: readonly Edit[] = [['src/new.ts', "import rooms from './content/rooms.json';"]];
  expect((await judgedData(rooms, ['src/old.ts', 'export {};'], { edits })).rules).toEqual([
    'test-data-changed',
  ]);
});
