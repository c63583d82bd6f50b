import path from 'node:path';
import { expect, it } from 'vitest';
import { filtersFor } from '../../../src/cli/blame.js';
import { aReport, aReportTest } from '../../rig/a-report.js';
import { leaveRun } from '../../rig/events-of-report.js';
import { tempDir } from '../../rig/temp-dir.js';

it('BL-1 runs the tests that the last run left red, wherever their files are', async () => {
  const cwd = tempDir();
  const tests = [
    aReportTest({ id: 't1', file: 'tests/cart.spec.ts', line: 9, verdict: 'failed' }),
    aReportTest({ id: 't2', file: '../e2e/(shop)/pay.spec.ts', line: 3, verdict: 'escalated' }),
    aReportTest({ id: 't3', file: 'tests/green.spec.ts', line: 1, verdict: 'passed' }),
  ];
  leaveRun(cwd, aReport({ tests, causes: [] }));
  const found = await filtersFor(cwd, undefined);
  const places = found.ok ? found.value.map((filter) => /^(.*):(\d+)$/.exec(filter)?.slice(1) ?? []) : [];
  // Playwright matches each filter with the absolute path of a file.
  const matches = (file: string) =>
    places
      .filter(([pattern = '']) => new RegExp(pattern).test(path.resolve(cwd, file)))
      .map(([, line]) => line);
  expect(tests.map(({ file }) => matches(file))).toEqual([['9'], ['3'], []]);
});
