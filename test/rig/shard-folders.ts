import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from '../../src/core/cause.js';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import type { Collected } from '../../src/shards/collected.js';
import { aResult, aSuiteRun } from './builders.js';

/** Creates a `collected.json` of the first of two shards, as made in `/ci/shop`. */
export function aCollected(over: Partial<Collected> = {}): Collected {
  return {
    schemaVersion: 1,
    project: 'shop',
    commit: 'c0ffee0000000000000000000000000000000000',
    isDirty: false,
    shard: { current: 1, total: 2 },
    playwright: '1.65.0',
    selection: [],
    root: '/ci/shop',
    place: '',
    run: collectedRun(aSuiteRun()),
    failures: [],
    ...over,
  };
}

/** Returns what a shard keeps of a run in `/ci/shop`. */
export function collectedRun(run: SuiteRun): Collected['run'] {
  const { status, exitCode, tests, rerunIds, durationMs, endedAt, captureProblems } = run;
  return {
    status,
    exitCode,
    tests: tests.map(({ test, ...result }) => {
      const location = { ...test.location, file: test.location.file.replace('/project', '/ci/shop') };
      return { ...result, test: { ...test, location } };
    }),
    rerunIds,
    rootDir: '/ci/shop/tests',
    testFiles: ['/ci/shop/tests/cart.spec.ts', '/ci/cache/x.map'],
    configFile: '/ci/shop/playwright.config.ts',
    durationMs,
    endedAt,
    captureProblems,
  };
}

/** Writes what a shard leaves to a folder. */
export async function writeShard(
  folder: string,
  collected: Collected,
  failures: readonly DiagnosedFailure[] = [],
): Promise<void> {
  const numbers = failures.map(({ n }) => n);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'collected.json'), JSON.stringify({ ...collected, failures: numbers }));
  for (const failure of failures) {
    const dir = path.join(folder, 'failures', String(failure.n));
    await mkdir(dir, { recursive: true });
    await writeFile(path.join(dir, 'failure.json'), JSON.stringify({ schemaVersion: 1, ...failure }));
  }
}

/** Creates a run in which tests have these outcomes. */
export function ranAs(outcomes: Record<string, Parameters<typeof aResult>[1]>): SuiteRun {
  return aSuiteRun({ tests: Object.entries(outcomes).map(([id, outcome]) => aResult(id, outcome)) });
}
