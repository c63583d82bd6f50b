import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { runGuard } from '../../../src/guard/run-guard.js';
import { tempDir } from '../../rig/temp-dir.js';

const request = requestOf([['tests/search.spec.ts', 'toHaveCount(3)', 'toHaveCount(2)']], 'ui-error');

/** What the guard reports if its process runs this program. */
async function judgedBy(program: string, clockMs = 3000) {
  const entry = path.join(tempDir(), 'guard.mjs');
  writeFileSync(entry, program);
  const { violations } = await runGuard(request, { entry, clockMs });
  return violations.map(({ rule, says }) => `${rule}: ${says}`);
}

const tooLong = (seconds: number) =>
  `cannot-be-judged: what the tests check now cannot be determined (reading it took more than ${seconds} s of processor time)`;

it('HN-3 rejects a change whose judgement takes too long, and says so', async () => {
  expect(await judgedBy("process.on('message', () => { for (;;); });")).toEqual([tooLong(5)]);
});

it('HN-3 HN-4 limits processor time, of which a busy machine gives it little', async () => {
  const source = readFileSync(new URL('../../../src/guard/limit-processor-time.ts', import.meta.url), 'utf8');
  const limit = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ES2022 } }).outputText;
  const idle = `${limit}; process.on('message', () => { limitProcessorTime(500); setTimeout(() => process.exit(9), 1000); });`;
  expect(await judgedBy(idle)).toEqual([expect.stringContaining('exit code 9')]);
  const busy = `${limit}; process.on('message', () => { limitProcessorTime(500); for (;;); });`;
  expect(await judgedBy(busy, 60_000)).toEqual([tooLong(5)]);
});

it('HN-3 rejects a change that crashes the guard’s process or makes it fail', async () => {
  const [crashed] = await judgedBy("process.on('message', () => process.kill(process.pid, 'SIGSEGV'));");
  expect(crashed).toContain('cannot-be-judged');
  expect(crashed).toContain('SIGSEGV');
  const fails = "process.on('message', () => process.send({ type: 'failed', says: 'the guard failed: x' }));";
  expect(await judgedBy(fails)).toEqual([expect.stringContaining('the guard failed: x')]);
});

it('HN-3 rejects a change if a file that the process requests cannot be read', async () => {
  const broken = { ...request.before, read: () => Promise.reject(new Error('disk gone')) };
  const entry = path.join(tempDir(), 'guard.mjs');
  writeFileSync(
    entry,
    "process.on('message', () => process.send({ type: 'read', id: 1, tree: 'before', paths: ['a'] }));",
  );
  const { violations } = await runGuard({ ...request, before: broken }, { entry });
  expect(violations).toMatchObject([
    { rule: 'cannot-be-judged', says: expect.stringContaining('disk gone') },
  ]);
});
