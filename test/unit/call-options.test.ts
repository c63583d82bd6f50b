import { expect, it } from 'vitest';
import { checkOptions } from '../../src/call-options.js';
import { blame, flaky, heal, verify } from '../../src/index.js';

it.each([
  ['heal', { from: [] }, 'from names no folder'],
  ['heal', { from: 'reports' }, 'from must be a list of folders'],
  ['heal', { tests: ['-u'] }, 'tests.0 must not begin with "-"'],
  ['heal', { retries: -1, workers: true }, 'a text or a whole number; retries must not be negative'],
  ['heal', { cwd: '/no-such-folder' }, 'cwd is not an existing folder'],
  ['heal', { grep: /a/ }, 'grep must be a string'],
  ['heal', { signal: true, onEvent: 'log' }, 'must be an AbortSignal; onEvent must be a function'],
  ['flaky', { from: ['a'] }, 'no option is called from'],
  ['verify', { depth: 'none' }, 'depth must be quick or full'],
  ['blame', { env: null }, 'env must be an object'],
  ['blame', 'c1', 'the options must be an object'],
] as const)('CL-15 %s(%j) says what is wrong', (call, options, words) => {
  const checked = checkOptions(call, options);
  expect(checked).toMatchObject({ ok: false, error: { kind: 'usage' } });
  expect(checked.ok || checked.error.message).toContain(words);
});

it('CL-15 accepts every option of its types, and undefined values', () => {
  const { signal } = new AbortController();
  const each = { cwd: undefined, env: process.env, signal, onEvent: () => undefined, settings: {} };
  const ofTests = {
    ...each,
    tests: ['a.spec.ts:3'],
    project: ['chromium'],
    workers: '50%',
    onlyChanged: true,
  };
  expect(checkOptions('heal', { ...ofTests, from: ['reports'], flaky: true })).toMatchObject({ ok: true });
  expect(checkOptions('verify', { ...each, depth: 'quick', base: 'main' })).toMatchObject({ ok: true });
});

it.each([
  ['heal', heal],
  ['flaky', flaky],
  ['verify', verify],
  ['blame', blame],
])('CL-15 %s(null) is reported as a usage error, not as a bug', async (_, call) => {
  await expect(call(null as never)).rejects.toMatchObject({ name: 'SelfHealError', kind: 'usage' });
});
