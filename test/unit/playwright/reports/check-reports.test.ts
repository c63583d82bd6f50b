import { expect, it } from 'vitest';
import {
  countShards,
  missingShards,
  missingWarning,
  type PlaywrightReport,
  refusalOf,
} from '../../../../src/playwright/reports/report.js';

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
  expect(refusalOf(all.toReversed(), 'c0ffee0000')).toBeNull();
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
  const problem = refusalOf(reports, 'c0ffee0000');
  expect(problem?.message).toMatch(message);
  for (const { name } of reports) expect(problem?.detail).toContain(name);
});

it('SC-1 takes reports that do not say their commit or shard, such as JUnit', () => {
  const junit = [1, 2].map((n) => aReport(`${n}.xml`, 0, { shard: null, commit: null }));
  expect(refusalOf(junit, 'c0ffee0000')).toBeNull();
  expect(countShards(junit)).toEqual({ total: 2, missing: [] });
});

it.each([
  [[2, 3], 'Shard 1 of 3 is missing'],
  [[2], 'Shards 1 and 3 of 3 are missing'],
])('SC-1 names the missing shards if only %s left a report', (there, words) => {
  const reports = there.map((n) => aReport(`${n}.zip`, n));
  const count = countShards(reports);
  expect(missingShards(reports, count)).toMatchObject({ kind: 'input-unreadable', message: words });
  expect(missingWarning(count)).toContain(words);
});

it('SC-1 has nothing to warn of if all shards left a report', () => {
  expect(missingWarning(countShards(all))).toBeNull();
});
