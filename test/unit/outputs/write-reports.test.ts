import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeProblem, writeReports } from '../../../src/outputs/write-reports.js';
import { aReport, aReportCause } from '../../rig/a-report.js';
import { tempDir } from '../../rig/temp-dir.js';

async function places(env: NodeJS.ProcessEnv = {}) {
  const cwd = tempDir('reports');
  const dir = path.join(cwd, '.self-heal/runs/r1');
  await mkdir(dir, { recursive: true });
  const printed: string[] = [];
  return { cwd, dir, env, printed, print: (line: string) => void printed.push(line) };
}

const inActions = (file: string) => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_STEP_SUMMARY: path.join(file, 'summary'),
  GITHUB_OUTPUT: path.join(file, 'output'),
});

it('RP-2 writes JUnit, CTRF and Markdown into the run’s folder, and nothing else outside GitHub Actions', async () => {
  const there = await places();
  expect(await writeReports(aReport({ causes: [aReportCause()] }), there)).toEqual([]);
  expect((await readdir(there.dir)).toSorted()).toEqual(['ctrf.json', 'junit.xml', 'summary.md']);
  expect(there.printed).toEqual([]);
});

it('RP-2 reports what could not be written, and writes the rest', async () => {
  const there = await places();
  await mkdir(path.join(there.dir, 'junit.xml'));
  const troubles = await writeReports(aReport(), there);
  expect(troubles).toEqual([expect.stringMatching(/^junit\.xml could not be written: /)]);
  expect(await readFile(path.join(there.dir, 'ctrf.json'), 'utf8')).toContain('CTRF');
});

it('RP-3 appends to the existing step summary, and stays below 1 MiB in total', async () => {
  const files = tempDir('actions');
  const env = inActions(files);
  const there = await places(env);
  const existing = `${'x'.repeat(400 * 1024)}\n`;
  await writeFile(env.GITHUB_STEP_SUMMARY, existing);
  await writeFile(env.GITHUB_OUTPUT, 'own=1\n');
  const causes = Array.from({ length: 5000 }, () => aReportCause({ headline: 'é'.repeat(200) }));
  expect(await writeReports(aReport({ causes }), there)).toEqual([]);
  const { size } = await stat(env.GITHUB_STEP_SUMMARY);
  expect(size).toBeGreaterThan(1_000_000);
  expect(size).toBeLessThanOrEqual(1024 * 1024);
  const summary = await readFile(env.GITHUB_STEP_SUMMARY, 'utf8');
  expect(summary.startsWith(`${existing}\n## self-heal`)).toBe(true);
  expect(summary).toContain('more causes** did not fit here');
  expect(await readFile(env.GITHUB_OUTPUT, 'utf8')).toMatch(/^own=1\noutcome<<self-heal-[\w-]{36}\ngreen\n/);
});

it('RP-3 does not append to a step summary that is already full, and says so', async () => {
  const env = inActions(tempDir('actions'));
  await writeFile(env.GITHUB_STEP_SUMMARY, 'x'.repeat(1024 * 1024));
  const [problem, ...others] = await writeReports(aReport(), await places(env));
  expect(problem).toContain('the step summary could not be written');
  expect(others).toEqual([]);
});

it('RP-3 outputs the folder relative to the workspace', async () => {
  const env = inActions(tempDir('actions'));
  const there = await places();
  const workspace = { ...env, GITHUB_WORKSPACE: path.dirname(there.cwd) };
  await writeReports(aReport(), { ...there, env: workspace });
  const output = await readFile(env.GITHUB_OUTPUT, 'utf8');
  expect(output).toContain(`\n${path.basename(there.cwd)}/.self-heal/runs/r1\n`);
});

it('RP-3 writes a problem of self-heal as an annotation and into the summary', async () => {
  const problem = {
    kind: 'no-tests',
    message: 'there are no tests\n::error::owned',
    remedy: 'Write one.',
  } as const;
  const outside = await places();
  await writeProblem(problem, outside);
  expect(outside.printed).toEqual([]);

  const folder = tempDir('actions');
  const inside = await places(inActions(folder));
  await writeProblem(problem, inside);
  expect(inside.printed).toEqual([
    '::error title=self-heal could not run::there are no tests%0A::error::owned%0AWrite one.',
  ]);
  expect(await readFile(path.join(folder, 'summary'), 'utf8')).toMatch(
    /^## self-heal could not run\n[^]*Write one/,
  );

  await writeProblem(problem, await places(inActions(path.join(folder, 'not there'))));
});
