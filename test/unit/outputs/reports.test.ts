import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderJunit } from '../../../src/outputs/junit.js';
import { writeProblem, writeReports } from '../../../src/outputs/write-reports.js';
import { aReport, aReportCause, aReportTest } from '../../rig/a-report.js';
import { all, readXml } from '../../rig/read-xml.js';
import { tempDir } from '../../rig/temp-dir.js';

const only = (over: Parameters<typeof aReport>[0]) => {
  const [found] = all(readXml(renderJunit(aReport(over))), 'testcase');
  if (!found) throw new Error('no test case');
  return found;
};
const inC1 = { causeId: 'c1', causeIds: ['c1'] };

describe('names', () => {
  it('RP-2 match Playwright’s junit reporter: file, project, titles', () => {
    const tests = [
      aReportTest(),
      aReportTest({ id: 't2', project: 'firefox' }),
      aReportTest({ id: 't3', title: ['cart.spec.ts', 'removes'], durationMs: 250 }),
    ];
    const root = readXml(renderJunit(aReport({ tests })));
    const suites = all(root, 'testsuite');
    expect(suites.map(({ attributes }) => [attributes['name'], attributes['hostname']])).toEqual([
      ['cart.spec.ts', 'chromium'],
      ['cart.spec.ts', 'firefox'],
    ]);
    expect(suites[0]?.attributes).toMatchObject({ tests: '2', failures: '0', skipped: '0', time: '1.75' });
    const inFirst = suites.slice(0, 1).flatMap((one) => all(one, 'testcase'));
    expect(inFirst.map(({ attributes }) => attributes)).toEqual([
      { name: 'cart › adds', classname: 'cart.spec.ts', time: '1.5' },
      { name: 'removes', classname: 'cart.spec.ts', time: '0.25' },
    ]);
  });

  it('RP-2 are well-formed for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const tests = [aReportTest({ title: ['a.spec.ts', text], verdict: 'failed', ...inC1 })];
        const causes = [aReportCause({ verdict: 'failed', headline: text })];
        expect(only({ tests, causes }).attributes['name']).toBe(asAttribute(text));
      }),
    );
  });
});

describe('verdicts', () => {
  it.each(['failed', 'rejected', 'agent-unusable'] as const)('RP-2 %s is a failure', (verdict) => {
    const causes = [aReportCause({ verdict, reason: 'no agent is left' })];
    const failure = all(only({ tests: [aReportTest({ verdict, ...inC1 })], causes }), 'failure')[0];
    expect(failure?.attributes).toEqual({ message: 'TypeError: boom', type: 'runtime-error' });
    expect(failure?.text).toContain(`c1 ${verdict}`);
    expect(failure?.text).toContain('no agent is left');
  });

  it.each(['skipped', 'not-run'] as const)('RP-2 %s is skipped', (verdict) => {
    const root = readXml(renderJunit(aReport({ tests: [aReportTest({ verdict })] })));
    expect(root.attributes).toMatchObject({ tests: '1', failures: '0', skipped: '1', errors: '0' });
    expect(all(root, 'skipped')).toHaveLength(1);
  });

  it('RP-2 a failure of the suite itself is an error, and a healed one is passed', () => {
    const tests = [aReportTest({ verdict: 'not-run' })];
    const cause = aReportCause({ tests: [], verdict: 'failed', headline: 'no server' });
    const root = readXml(renderJunit(aReport({ tests, causes: [cause] })));
    expect(root.attributes).toMatchObject({ tests: '2', failures: '0', skipped: '1', errors: '1' });
    expect(all(root, 'error')[0]?.attributes['message']).toBe('no server');
    const fixed = readXml(renderJunit(aReport({ tests, causes: [{ ...cause, verdict: 'healed' }] })));
    expect(fixed.attributes).toMatchObject({ tests: '2', errors: '0', failures: '0' });
    expect(all(fixed, 'system-out')[0]?.text).toContain('healed');
  });
});

/** The text without the characters that XML does not allow. */
function fit(text: string): string {
  // oxlint-disable-next-line no-control-regex -- removes control characters
  return text.replaceAll(/[\0-\x08\v\f\x0E-\x1F\x7F-\x84\x86-\x9F\p{Surrogate}\uFFFE\uFFFF]/gu, '');
}

function asAttribute(text: string): string {
  return fit(text).replaceAll(/\r\n|[\r\n\t]/g, ' ');
}

async function places(env: NodeJS.ProcessEnv = {}) {
  const cwd = tempDir('reports');
  const dir = path.join(cwd, '.self-heal/runs/r1');
  await mkdir(dir, { recursive: true });
  const printed: string[] = [];
  return { cwd, dir, finalDir: dir, env, printed, print: (line: string) => void printed.push(line) };
}

const inActions = (file: string) => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_STEP_SUMMARY: path.join(file, 'summary'),
  GITHUB_OUTPUT: path.join(file, 'output'),
});

it('RP-2 outside GitHub Actions, writes only JUnit and Markdown into the run’s folder', async () => {
  const there = await places();
  expect(await writeReports(aReport({ causes: [aReportCause()] }), there)).toEqual([]);
  expect((await readdir(there.dir)).toSorted()).toEqual(['junit.xml', 'summary.md']);
  expect(there.printed).toEqual([]);
});

it('RP-2 reports a file that could not be written, and writes the others', async () => {
  const there = await places();
  await mkdir(path.join(there.dir, 'junit.xml'));
  const troubles = await writeReports(aReport(), there);
  expect(troubles).toEqual([expect.stringMatching(/^junit\.xml could not be written: /)]);
  expect(await readFile(path.join(there.dir, 'summary.md'), 'utf8')).toContain('## self-heal');
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
