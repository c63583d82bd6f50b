import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { DiagnosedFailure } from '../../../src/core/cause.js';
import type { Collected } from '../../../src/shards/collected.js';
import { findShards } from '../../../src/shards/find-shards.js';
import { readShard } from '../../../src/shards/read-shard.js';
import { anError, aTest, aTestFailure, anEvidence, failing } from '../../rig/builders.js';
import { aCollected, collectedRun, ranAs, writeShard } from '../../rig/shard-folders.js';
import { tempDir } from '../../rig/temp-dir.js';

const here = { cwd: '/home/me/shop', root: '/home/me/shop' };
const location = { file: '/ci/shop/tests/cart.spec.ts', line: 12, column: 1 };

/** A failure as the shard's machine wrote it. */
function onShard(over: Partial<DiagnosedFailure> = {}): DiagnosedFailure {
  const stack = 'Error: boom\n    at total (/ci/shop/src/cart.ts:3:1)\n    at /ci/shop-api/x.ts:1:1';
  const errors = [
    anError('Error: boom', { stack, location }),
    anError('Error: deep', { location: { ...location, file: '/opt/store/lib.js' } }),
  ];
  return failing('t1', 'boom', {
    failure: aTestFailure({
      test: aTest('t1', { location }),
      errors,
      capture: '/ci/shop/.self-heal/runs/r/suites/1/captures/t1-0.json',
      attachments: [
        { name: 'trace', contentType: 'application/zip', path: '/ci/shop/test-results/trace.zip' },
      ],
    }),
    evidence: anEvidence({
      errors,
      rootDir: '/ci/shop',
      screenshot: '/ci/shop/.self-heal/runs/r/failures/1/screenshot.png',
      trace: '/ci/shop/test-results/trace.zip',
    }),
    ...over,
  });
}

async function read(collected: Collected, failures: readonly DiagnosedFailure[]) {
  const dir = tempDir();
  await writeShard(path.join(dir, 'arts', 'r'), collected, failures);
  const found = await findShards(['arts'], dir);
  if (!found.ok) return found;
  const [shard] = found.value;
  if (shard?.kind !== 'collected') throw new Error('no shard');
  return readShard(shard, here);
}

it('SC-1 rewrites paths of the shard’s machine to this checkout, even in texts', async () => {
  const collected = aCollected({ run: collectedRun(ranAs({ t1: 'unexpected' })) });
  const shard = await read(collected, [onShard()]);
  if (!shard.ok) throw new Error(shard.error.message);
  const { run, known } = shard.value;
  expect(run.tests[0]?.test.location.file).toBe('/home/me/shop/tests/cart.spec.ts');
  expect(run).toMatchObject({
    rootDir: '/home/me/shop/tests',
    configFile: '/home/me/shop/playwright.config.ts',
    testFiles: ['/home/me/shop/tests/cart.spec.ts'],
  });
  const [failure] = run.failures;
  const diagnosed = failure && known.get(failure);
  expect(failure).toMatchObject({ capture: null, attachments: [], test: { id: 't1' } });
  expect(diagnosed?.evidence.errors[0]?.stack).toBe(
    'Error: boom\n    at total (/home/me/shop/src/cart.ts:3:1)\n    at /ci/shop-api/x.ts:1:1',
  );
  expect(diagnosed?.evidence.errors.map((one) => one.location?.file ?? null)).toEqual([
    '/home/me/shop/tests/cart.spec.ts',
    null,
  ]);
  expect(diagnosed?.evidence).toMatchObject({ rootDir: here.cwd, trace: null });
  expect(diagnosed?.evidence.screenshot).toMatch(/arts\/r\/failures\/1\/screenshot\.png$/);
});

const outside = { ...location, file: '/ci/shop/../../etc/passwd' };
const crafted: [string, Collected, DiagnosedFailure[]][] = [
  [
    'a test outside the project',
    aCollected({
      run: {
        ...collectedRun(ranAs({})),
        tests: [{ test: aTest('t1', { location: outside }), outcome: 'expected', retries: 0, durationMs: 1 }],
      },
    }),
    [],
  ],
  [
    'a failure of a test outside the project',
    aCollected(),
    [onShard({ failure: aTestFailure({ test: aTest('t1', { location: outside }) }) })],
  ],
  ['an unknown class', aCollected(), [onShard({ diagnosis: { category: 'x' } as never })]],
  ['a newer version', aCollected({ schemaVersion: 2 as never }), []],
  ['an impossible shard', aCollected({ shard: { current: 3, total: 2 } }), []],
];

it.each(crafted)('SC-1 refuses %s', async (_, collected, failures) => {
  const shard = await read(collected, failures);
  expect(shard).toMatchObject({ ok: false, error: { kind: 'input-unreadable' } });
});

it('SC-1 takes a screenshot only from the folder of its failure, and a config only from the project', async () => {
  const failure = onShard();
  const elsewhere = { ...failure, evidence: { ...failure.evidence, screenshot: '/ci/shop/../../x/id.png' } };
  const run = { ...collectedRun(ranAs({ t1: 'unexpected' })), configFile: '/etc/x.ts', rootDir: '/etc' };
  const shard = await read(aCollected({ run }), [elsewhere]);
  if (!shard.ok) throw new Error(shard.error.message);
  expect([...shard.value.known.values()][0]?.evidence.screenshot).toBeNull();
  expect(shard.value.run).toMatchObject({ configFile: null, rootDir: here.cwd });
});

it('SC-1 refuses a record that is a link, torn or missing, and quotes nothing of it', async () => {
  const dir = tempDir();
  const folder = path.join(dir, 'r');
  await writeShard(folder, aCollected(), [onShard()]);
  const record = path.join(folder, 'failures/1/failure.json');
  const secret = path.join(dir, 'secret.json');
  await writeFile(secret, 'hunter2');
  const found = await findShards([folder], dir);
  const [shard] = found.ok ? found.value : [];
  if (shard?.kind !== 'collected') throw new Error('no shard');
  const refused = async () => {
    const { ok, error } = (await readShard(shard, here)) as { ok: boolean; error: { message: string } };
    expect(ok).toBe(false);
    expect(error.message).toContain('r/failures/1/failure.json is not a usable artifact of a shard');
    expect(error.message).not.toContain('hunter2');
  };
  await writeFile(record, '{"schemaVersion":1,"hunter2');
  await refused();
  await rm(record);
  await refused();
  await symlink(secret, record);
  await refused();
});

it('SC-1 finds each run folder once at any depth, and names a folder without any', async () => {
  const dir = tempDir();
  await writeShard(path.join(dir, 'arts/shard-10/r10'), aCollected({ shard: { current: 2, total: 2 } }));
  await writeShard(path.join(dir, 'arts/shard-2/packages/web/.self-heal/runs/r2'), aCollected());
  await symlink('r2', path.join(dir, 'arts/shard-2/packages/web/.self-heal/runs/latest'));
  await mkdir(path.join(dir, 'empty/runs/killed'), { recursive: true });
  const found = await findShards(['arts', 'arts/shard-10'], dir);
  expect(found.ok && found.value.map(({ name }) => name)).toEqual([
    'arts/shard-2/packages/web/.self-heal/runs/r2',
    'arts/shard-10/r10',
  ]);
  for (const folder of ['empty', 'nowhere'])
    expect(await findShards(['arts', folder], dir)).toMatchObject({
      ok: false,
      error: { kind: 'input-unreadable', message: expect.stringContaining(folder) },
    });
});

it('SC-1 names a zip that cannot be read', async () => {
  const dir = tempDir();
  await writeFile(path.join(dir, 'report-1.zip'), 'PK no zip at all');
  expect(await findShards(['.'], dir)).toMatchObject({
    ok: false,
    error: { kind: 'input-unreadable', message: expect.stringContaining('report-1.zip') },
  });
});
