import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadRun } from '../../../../src/outputs/html/load-run.js';
import { renderPage } from '../../../../src/outputs/html/page.js';
import { ownFile } from '../../../../src/own-files.js';
import { readRunState } from '../../../../src/run/event-log.js';
import { categories } from '../../../../src/core/diagnosis.js';
import { verdictWords } from '../../../../src/outputs/wording.js';
import { aReport, aReportCause, aReportTest } from '../../../rig/a-report.js';
import { aBlame, aBlamedHunk } from '../../../rig/builders.js';
import { hostile, runId, storedRun } from '../../../rig/stored-run.js';
import { tempDir } from '../../../rig/temp-dir.js';

async function pageOf(over: Parameters<typeof storedRun>[1] = {}) {
  const project = tempDir();
  const report = await storedRun(project, over);
  const dir = path.join(project, '.self-heal', 'runs', runId);
  return {
    dir,
    report,
    page: renderPage(await loadRun(report, await readRunState(dir), { dir, shown: 'runs/x' }), ''),
  };
}

const withoutPictures = (page: string) => page.replaceAll(/data:image[^"]*/g, '');

it('RP-4 BL-3 begins a cause with the change to blame: its location, author and escaped lines', async () => {
  const blame = aBlame({ hunks: [aBlamedHunk({ old: ['before'], now: [hostile] })] });
  const { page } = await pageOf({ causes: [aReportCause({ reason: 'the reason', blame })] });
  const from = page.indexOf('It was green before 3f2a91c');
  const shown = page.slice(from, page.indexOf('the reason', from));
  expect(shown).toMatch(/<code>\.\.\/api\/cart\.ts:12<\/code> · 3f2a91c Faster carts · Ann/);
  expect(shown).toMatch(/<pre>\n-before\n\+&lt;img src=x /);
  expect(page).not.toContain('<img src=x');
});

it('RP-4 lists each of 300 causes, and shows the first 25 in full', async () => {
  const causes = Array.from({ length: 300 }, (_, n) =>
    aReportCause({
      id: `c${n + 1}`,
      headline: `TypeError: ${'long '.repeat(60)}${n}`,
      evidence: `failures/${n + 1}`,
    }),
  );
  const tests = Array.from({ length: 3000 }, (_, n) =>
    aReportTest({ id: `t${n}`, title: ['a.spec.ts', 'x'.repeat(300)] }),
  );
  const { page } = await pageOf({ causes, tests });
  expect(page.match(/class="cause /g)).toHaveLength(300);
  expect(page.match(/id="cause-c\d+"/g)).toHaveLength(25);
  expect(Buffer.byteLength(withoutPictures(page))).toBeLessThan(500_000);
});

it('SC-1 does not say that everything is green if a shard is missing', async () => {
  const green = { outcome: 'green' as const, causes: [] };
  expect((await pageOf(green)).page).toContain('Everything is green');
  const { page } = await pageOf({ ...green, shards: { total: 3, missing: [2] } });
  expect(page).not.toContain('Everything is green');
});

it('EV-12 renders a page from a folder without failures, patches and events', async () => {
  const dir = tempDir();
  const report = aReport({ causes: [aReportCause()], tests: [aReportTest()] });
  const page = renderPage(await loadRun(report, await readRunState(dir), { dir, shown: 'runs/x' }), '');
  expect(page).toContain('TypeError: boom');
});

it('RP-4 does not embed a picture that is a link out of the folder', async () => {
  const { dir, report } = await pageOf();
  const secret = path.join(tempDir(), 'secret');
  await writeFile(secret, 'a secret');
  await rm(path.join(dir, 'failures', '1', 'screenshot.png'));
  await symlink(secret, path.join(dir, 'failures', '1', 'screenshot.png'));
  const { causes } = await loadRun(report, await readRunState(dir), { dir, shown: 'runs/x' });
  expect(causes.get('c1')?.before).toBeNull();
  expect(causes.get('c2')?.before).toContain('data:image/png;base64,');
});

it('RP-4 has a filter for each result of a test and each class of a cause', async () => {
  const css = await readFile(ownFile('outputs/html/report.css'), 'utf8');
  const tests = Object.keys(verdictWords).filter((one) => one !== 'superseded' && one !== 'interrupted');
  for (const verdict of tests)
    expect(css).toContain(`#tests:has(#tests-${verdict}:checked) tbody tr:not(.${verdict})`);
  for (const one of categories)
    expect(css).toContain(`main:has(#class-${one}:checked) .cause:not([data-class='${one}'])`);
});
