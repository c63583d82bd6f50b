import { mkdirSync, writeFileSync } from 'node:fs';
import { rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Side } from '../../../src/model/choice.js';
import type { AttemptEnd } from '../../../src/model/attempt.js';
import { listOffers } from '../../../src/model/escalation.js';
import { formatEscalation } from '../../../src/outputs/escalation-text.js';
import { renderDiff } from '../../../src/outputs/html/diff.js';
import { loadRun } from '../../../src/outputs/html/load-run.js';
import { renderPage } from '../../../src/outputs/html/page.js';
import { renderMarkdown } from '../../../src/outputs/markdown.js';
import { readRunState } from '../../../src/run/event-log.js';
import { readPatch, addPatchTexts } from '../../../src/run/read-patch.js';
import { createRedactorForValues } from '../../../src/secrets/redactor.js';
import { renderQuestions } from '../../../src/clients/ui/questions.js';
import { aReportAttempt, aReportCause, aReportTest } from '../../rig/a-report.js';
import { aBlame, aBlamedHunk, anEscalation } from '../../rig/builders.js';
import { hostile, runId, storedRun } from '../../rig/stored-run.js';
import { tempDir } from '../../rig/temp-dir.js';

async function pageOf(over: Parameters<typeof storedRun>[1] = {}) {
  const project = tempDir();
  const report = await storedRun(project, over);
  const dir = path.join(project, '.self-heal', 'runs', runId);
  return {
    dir,
    report,
    page: renderPage(await loadRun(report, await readRunState(dir), { dir, displayDir: 'runs/x' }), ''),
  };
}

const withoutPictures = (page: string) => page.replaceAll(/data:image[^"]*/g, '');

it('RP-4 BL-3 begins a cause with the change to blame: its location, author and escaped lines', async () => {
  const blame = aBlame({ hunks: [aBlamedHunk({ old: ['before'], now: [hostile] })] });
  const { page } = await pageOf({ causes: [aReportCause({ reason: 'the reason', blame })] });
  const from = page.indexOf('It was green before 3f2a91c');
  const shown = page.slice(from, page.indexOf('the reason', from));
  expect(shown).toMatch(/<code>\.\.\/api\/cart\.ts:12<\/code>\s+· 3f2a91c Faster carts · Ann/);
  expect(shown).toMatch(/<code>-before\n\+&lt;img src=x /);
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

it('RP-4 does not embed a picture that is a link out of the folder', async () => {
  const { dir, report } = await pageOf();
  const secret = path.join(tempDir(), 'secret');
  await writeFile(secret, 'a secret');
  await rm(path.join(dir, 'failures', '1', 'screenshot.png'));
  await symlink(secret, path.join(dir, 'failures', '1', 'screenshot.png'));
  const { causes } = await loadRun(report, await readRunState(dir), { dir, displayDir: 'runs/x' });
  expect(causes.get('c1')?.before).toBeNull();
  expect(causes.get('c2')?.before).toContain('data:image/png;base64,');
});

it('EV-10 the name of a file shows no characters that reorder or control text', () => {
  const name = String.raw`src/\342\200\256gpj\033[31m.txt`;
  const patch = `diff --git "a/${name}" "b/${name}"\n--- "a/${name}"\n+++ "b/${name}"\n@@ -1,1 +1,1 @@\n-a\n+b\n`;
  const shown = String(renderDiff(patch, 9));
  expect(shown).toContain('src/gpj.txt');
  for (const hidden of ['\u202e', '\u001b']) expect(shown).not.toContain(hidden);
});

const patchOf = (file: string, text: string) =>
  `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-old\n+${text}\n`;

const redactor = createRedactorForValues([{ name: 'TOKEN', value: 'hunter2hunter2' }]);

/** A run in which a person has to choose between two patches. */
async function asked() {
  const project = tempDir();
  const offered = (side: Side): AttemptEnd => ({
    kind: 'offered',
    because: '',
    side,
    proof: ['red', 'red', 'green', 'green'],
  });
  const attempts = [
    aReportAttempt({ end: offered('app'), change: '1', patch: 'attempts/1.patch' }),
    aReportAttempt({
      end: offered('tests'),
      change: '2',
      patch: 'attempts/2.patch',
      agent: 'built-in',
    }),
  ];
  const report = await storedRun(project, { causes: [aReportCause({ verdict: 'escalated', attempts })] });
  const dir = path.join(project, '.self-heal', 'runs', runId);
  mkdirSync(path.join(dir, 'attempts'), { recursive: true });
  writeFileSync(path.join(dir, 'attempts/1.patch'), patchOf('page.html', 'the old words'));
  writeFileSync(path.join(dir, 'attempts/2.patch'), patchOf('a.spec.ts', 'hunter2hunter2 and new words'));
  const escalation = anEscalation({ runId, choices: ['tests', 'app'], offers: listOffers(attempts) });
  return { project, dir, report, escalation: addPatchTexts(project, escalation, redactor) };
}

it.each([
  [
    'report.html',
    async ({ report, dir }) =>
      renderPage(await loadRun(report, await readRunState(dir), { dir, displayDir: 'runs/x', redactor }), ''),
  ],
  [
    'the Markdown summary',
    ({ report, dir }) =>
      renderMarkdown(report, { folder: 'x', patchText: (patch) => readPatch(dir, patch, redactor) }),
  ],
  ['`escalations show`', ({ escalation }) => formatEscalation(escalation)],
  ['the live page', ({ escalation }) => String(renderQuestions([escalation]))],
] satisfies [string, (run: Awaited<ReturnType<typeof asked>>) => string | Promise<string>][])(
  'BL-6 ME-5 RP-4 %s shows both patches of a question with their proofs, the tests first',
  async (_, show) => {
    // Words of a diff are marked one by one.
    const shown = (await show(await asked())).replaceAll(/<\/?(?:ins|del)>/g, '');
    const [tests, app] = [shown.indexOf('and new words'), shown.indexOf('the old words')];
    expect(tests).toBeGreaterThan(0);
    expect(app).toBeGreaterThan(tests);
    expect(shown.match(/green 2 times with it, red before/g)).toHaveLength(2);
    expect(shown).not.toContain('hunter2hunter2');
  },
);

it('HN-10 a patch is read only from its run’s own folder', async () => {
  const { project, dir, escalation } = await asked();
  for (const patch of ['../../../package.json', 'report.json', 'attempts/4.patch', null])
    expect(readPatch(dir, patch, redactor), String(patch)).toBeNull();
  const elsewhere = addPatchTexts(project, { ...escalation, runId: '../runs/x' }, redactor);
  expect(elsewhere.offers.map(({ text }) => text)).toEqual([null, null]);
  expect(formatEscalation(elsewhere)).toContain('is not on this machine');
});
