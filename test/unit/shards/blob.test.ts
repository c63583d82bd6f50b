import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readBlob } from '../../../src/shards/blob.js';
import { storedZip } from '../../rig/stored-zip.js';
import { tempDir } from '../../rig/temp-dir.js';

const metadata = {
  method: 'onBlobReportMetadata',
  params: {
    version: 2,
    userAgent: 'Playwright/1.50.1 (x64; debian 12) node/20.20',
    shard: { current: 2, total: 3 },
  },
};
const configured = {
  method: 'onConfigure',
  params: { config: { rootDir: '/ci/tests', metadata: { gitCommit: { hash: 'c0ffee' } } } },
};

const lines = (...messages: unknown[]) => messages.map((one) => JSON.stringify(one)).join('\n');

function blobOf(files: Record<string, string>) {
  const file = path.join(tempDir(), 'report.zip');
  writeFileSync(file, storedZip(files));
  return readBlob(file);
}

it('SC-1 reads the shard, commit and Playwright version of a blob report', async () => {
  expect(await blobOf({ 'report-2.jsonl': lines(metadata, configured) })).toEqual({
    shard: { current: 2, total: 3 },
    rootDir: '/ci/tests',
    commit: 'c0ffee',
    playwright: '1.50.1',
  });
  const older = lines({ ...metadata, params: {} }, { ...configured, params: { config: { rootDir: '/ci' } } });
  expect(await blobOf({ 'report.jsonl': older })).toEqual({
    shard: { current: 1, total: 1 },
    rootDir: '/ci',
    commit: null,
    playwright: null,
  });
});

it('SC-1 ignores other zips, and calls a blob report damaged that is torn, incomplete or leads out of its folder', async () => {
  expect(await blobOf({ 'trace.trace': '{}' })).toBeNull();
  expect(await blobOf({ 'report.jsonl': lines(metadata) })).toBe('damaged');
  expect(await blobOf({ 'report.jsonl': lines(metadata, configured), '../x': '' })).toBe('damaged');
  const torn = path.join(tempDir(), 'report.zip');
  writeFileSync(torn, storedZip({ 'report.jsonl': lines(metadata, configured) }).subarray(0, 60));
  expect(await readBlob(torn)).toBe('damaged');
});
