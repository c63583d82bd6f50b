import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readReports } from '../../../src/playwright/reports/read-reports.js';
import {
  type PlaywrightReport,
  countShards,
  createMissingShardsProblem,
  describeMissingShards,
  checkReports,
} from '../../../src/playwright/reports/report.js';
import { tempDir } from '../../rig/temp-dir.js';
import { zipOf } from '../evidence/rig/write-zip.js';

const lines = (...messages: object[]) => messages.map((message) => JSON.stringify(message)).join('\n');
const begin = [
  { method: 'onBlobReportMetadata', params: { version: 2, shard: { current: 2, total: 3 } } },
  {
    method: 'onConfigure',
    params: { config: { rootDir: '/ci/tests', metadata: { gitCommit: { hash: 'c0ffee0' } } } },
  },
];
const suite = {
  title: 'sub\\a.spec.ts',
  entries: [
    { testId: 't1', title: 'adds' },
    { title: '', entries: [{ testId: 't2', title: 'subtracts' }] },
  ],
};
const project = { method: 'onProject', params: { project: { name: 'one', suites: [suite] } } };
const testEnd = (testId: string, status: string) => ({
  method: 'onTestEnd',
  params: { test: { testId, expectedStatus: 'passed' }, result: { status, duration: 7 } },
});
const end = { method: 'onEnd', params: { result: { status: 'failed' } } };
const complete = lines(...begin, project, testEnd('t1', 'failed'), end);
const blob = (text: string, name = 'report-2.jsonl') => zipOf({ [name]: text });

const json = (over: object = {}) =>
  JSON.stringify({ config: { shard: null }, suites: [], errors: [], ...over });

/** Writes a folder with these files. */
function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), text);
  }
  return dir;
}
const read = (files: Readonly<Record<string, string | Buffer>>) => readReports(['.'], folderOf(files));

it('SC-1 reads shard, commit and tests of a blob report, whatever separator its machine had', async () => {
  expect(await read({ 'report-2.zip': blob(complete) })).toEqual({
    ok: true,
    value: [
      {
        name: 'report-2.zip',
        shard: { current: 2, total: 3 },
        commit: 'c0ffee0',
        isSuiteRed: false,
        tests: [
          { key: '[one] › sub/a.spec.ts › adds', outcome: 'unexpected', durationMs: 7 },
          { key: '[one] › sub/a.spec.ts › subtracts', outcome: 'not-run', durationMs: 0 },
        ],
      },
    ],
  });
});

it.each([
  ['an error outside of its tests', lines(...begin, { method: 'onError', params: {} }, end)],
  ['an interrupt', lines(...begin, { method: 'onEnd', params: { result: { status: 'interrupted' } } })],
])('SC-1 notices that a shard’s tests may not have run because of %s', async (_, text) => {
  expect(await read({ 'a.zip': blob(text) })).toMatchObject({ value: [{ isSuiteRed: true }] });
});

it('SC-1 finds reports in folders, each once, and ignores links, files of other kinds', async () => {
  const dir = folderOf({
    'a/b/report-2.zip': blob(complete),
    'a/r.json': json(),
    'a/junit.xml': '<testsuites/>',
    'a/trace.zip': zipOf({ 'trace.trace': '{}' }),
    'a/package.json': '{ "name": "shop" }',
    'a/.self-heal/runs/1/report.json': json(),
    'other/r.json': json(),
  });
  symlinkSync(path.join(dir, 'other'), path.join(dir, 'a/link'));
  const reports = await readReports(['a', 'a/b'], dir);
  expect(reports.ok && reports.value.map(({ name }) => name.replaceAll('\\', '/'))).toEqual([
    'a/b/report-2.zip',
    'a/r.json',
  ]);
});

const deep = `${'{"title":"","specs":[],"suites":['.repeat(50_000)}${']}'.repeat(50_000)}`;

it.each([
  ['a torn zip', { 'r.zip': blob(complete).subarray(0, 60) }],
  ['a blob without its end', { 'r.zip': blob(lines(...begin, project)) }],
  ['crafted JSON', { 'r.json': json({ suites: [{ title: 'a', specs: 'none' }] }) }],
  ['JSON that is nested beyond reason', { 'r.json': json().replace('"suites":[]', `"suites":[${deep}]`) }],
])('SC-1 EV-11 reports %s as unusable, with its name', async (_, files) => {
  const problem = await read(files);
  expect(problem).toMatchObject({ ok: false, error: { kind: 'input-unreadable' } });
  expect(!problem.ok && problem.error.message).toContain(Object.keys(files)[0]);
});

it.each([['has no report', '.', /contains no Playwright report/]])(
  'SC-1 reports that a path %s',
  async (_, name, words) => {
    const reports = await readReports([name], tempDir());
    expect(!reports.ok && reports.error.message).toMatch(words);
  },
);

const aReport = (name: string, current: number, over: Partial<PlaywrightReport> = {}): PlaywrightReport => ({
  name,
  shard: { current, total: 3 },
  commit: 'c0ffee0000',
  isSuiteRed: false,
  tests: [],
  ...over,
});
const all = [aReport('one.zip', 1), aReport('two.zip', 2), aReport('three.zip', 3)];

it('SC-1 accepts all shards of one commit, in any order', () => {
  expect(checkReports(all.toReversed(), 'c0ffee0000')).toBeNull();
  expect(countShards(all)).toEqual({ total: 3, missing: [] });
});

it.each([
  ['other commits', [aReport('one.zip', 1, { commit: 'deadbeef00' })], /c0ffee.* is checked out here/],
  [
    'other splits',
    [aReport('one.zip', 1), aReport('two.zip', 2, { shard: { current: 2, total: 4 } })],
    /split/,
  ],
  ['the same shard twice', [aReport('one.zip', 1), aReport('again.zip', 1)], /more than once/],
])('SC-1 refuses %s and names the files', (_, reports, message) => {
  const problem = checkReports(reports, 'c0ffee0000');
  expect(problem?.message).toMatch(message);
  for (const { name } of reports) expect(problem?.detail).toContain(name);
});

it.each([
  [[2, 3], 'Shard 1 of 3 is missing'],
  [[2], 'Shards 1 and 3 of 3 are missing'],
])('SC-1 names the missing shards if only %s left a report', (there, words) => {
  const reports = there.map((n) => aReport(`${n}.zip`, n));
  const count = countShards(reports);
  expect(createMissingShardsProblem(reports, count)).toMatchObject({
    kind: 'input-unreadable',
    message: words,
  });
  expect(describeMissingShards(count)).toContain(words);
});
