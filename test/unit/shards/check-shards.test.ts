import { expect, it } from 'vitest';
import { missing, missingShards, missingWarning, refusalOf } from '../../../src/shards/check-shards.js';
import type { Collected } from '../../../src/shards/collected.js';
import type { FoundShard } from '../../../src/shards/find-shards.js';
import { aCollected } from '../../rig/shard-folders.js';

const here = {
  project: 'shop',
  place: '',
  commit: 'c0ffee0000000000000000000000000000000000',
  selection: [],
};

function found(name: string, current: number, over: Partial<Collected> = {}, total = 20): FoundShard {
  const shard = { current, total };
  return {
    kind: 'collected',
    name,
    folder: `/arts/${name}`,
    shard,
    collected: aCollected({ shard, ...over }),
  };
}

function blob(name: string, current: number, commit: string | null): FoundShard {
  const shard = { current, total: 20 };
  return {
    kind: 'blob',
    name,
    file: `/arts/${name}`,
    shard,
    blob: { shard, commit, rootDir: '/ci', playwright: null },
  };
}

const all = Array.from({ length: 20 }, (_, at) => found(`s${at + 1}`, at + 1));

it('SC-1 accepts shards of this project, commit and selection in any order', () => {
  expect(refusalOf(all.toReversed(), here)).toBeNull();
  expect(missingShards(all)).toEqual([]);
  expect(refusalOf([blob('b', 1, null), blob('c', 2, here.commit)], here)).toBeNull();
});

it.each([
  ['another commit', found('b', 2, { commit: 'badc0de000000' }), 'badc0de00000'],
  ['no commit', found('b', 2, { commit: null }), 'no commit'],
  ['a report of another commit', blob('b', 2, 'badc0de000000'), 'badc0de00000'],
  ['another project', found('b', 2, { project: 'blog' }), 'blog'],
  ['another folder of the repository', found('b', 2, { place: 'packages/shop' }), 'shop in packages/shop'],
  ['another selection', found('b', 2, { selection: ['--grep=@slow'] }), '--grep=@slow'],
  ['a different number of shards', found('b', 2, {}, 21), 'shard 2/21'],
  ['the same shard', found('b', 1), 'shard 1/20'],
])('SC-1 refuses %s and names the folder', (_, other, says) => {
  const refusal = refusalOf([found('a', 1), other], here);
  expect(refusal?.kind).toBe('usage');
  expect(refusal?.detail?.split('\n')).toContain(`  b: ${says}`);
});

it('SC-1 names missing shards by their numbers', () => {
  const some = all.filter(({ shard }) => ![2, 5, 7].includes(shard.current));
  const gone = missingShards(some);
  expect(gone).toEqual([2, 5, 7]);
  expect(missing(some, gone)).toMatchObject({
    kind: 'input-unreadable',
    message: 'Shards 2, 5 and 7 of 20 are missing',
  });
  expect(missing(some, [2]).message).toBe('Shard 2 of 20 is missing');
  expect(missingWarning({ total: 20, missing: gone })).toMatch(/^Shards 2, 5 and 7 of 20 are missing/);
  expect(missingWarning({ total: 20, missing: [] })).toBeNull();
});

it('SC-1 counts a suite that was not sharded as shard 1 of 1', () => {
  const whole = { ...blob('b', 1, null), shard: { current: 1, total: 1 } };
  expect(missingShards([whole])).toEqual([]);
});
