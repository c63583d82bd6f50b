import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { committedHere } from '../../../../src/heal/workers/healed-here.js';
import { someSettings } from '../../../rig/builders.js';
import { tempDir } from '../../../rig/temp-dir.js';

function repository() {
  const cwd = tempDir('größe mit leer');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], { cwd });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'one');
  const request = { cwd, env: {}, filters: [], passThrough: [], options: {} };
  const seen = async (playwright: string, store = 'postgres://127.0.0.1/none') =>
    committedHere(request, {
      asWritten: someSettings({ store }),
      playwright: { version: playwright, cli: '', packageDir: '' },
    });
  return { cwd, git, seen };
}

it('SC-2 checkouts share a queue only if their commit and Playwright are the same', async () => {
  const { git, seen } = repository();
  const first = await seen('1.65.0');
  expect(await seen('1.65.0')).toEqual(first);
  const other = await seen('1.50.0');
  if (!first.ok || !other.ok) throw new Error('refused');
  expect(other.value.queue).not.toBe(first.value.queue);
  expect(other.value.version).toContain('Playwright 1.50.0');
  git('commit', '-q', '--allow-empty', '-m', 'two');
  expect(await seen('1.65.0')).not.toMatchObject({ value: { queue: first.value.queue } });
});

it('SC-2 a worker needs a PostgreSQL store, and a checkout without uncommitted changes', async () => {
  const { cwd, seen } = repository();
  expect(await seen('1.65.0', '.self-heal/ledger.db')).toMatchObject({ ok: false, error: { kind: 'usage' } });
  writeFileSync(path.join(cwd, 'mine.txt'), 'mine');
  expect(await seen('1.65.0')).toMatchObject({ ok: false, error: { kind: 'usage' } });
});
