import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { writeFileAtomic } from '../../src/state-folder.js';

it('HN-2 writes a file durably where file handles lack `sync()`, as under Yarn’s Plug’n’Play', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'self-heal-unit-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = path.join(dir, 'change.json');
  const handle = await open(path.join(dir, 'any'), 'w');
  await handle.close();
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  const sync = vi.spyOn(prototype, 'sync').mockRejectedValue(new Error('Method not implemented.'));
  onTestFinished(() => sync.mockRestore());
  await writeFileAtomic(file, 'kept', { durable: true });
  expect(await readFile(file, 'utf8')).toBe('kept');
});
