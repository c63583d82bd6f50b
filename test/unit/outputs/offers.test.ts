import { type AttemptEnd, type Side } from '../../../src/core/attempt.js';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { offersOf } from '../../../src/core/escalation.js';
import { asPage } from '../../../src/outputs/escalation-text.js';
import { loadRun } from '../../../src/outputs/html/load-run.js';
import { renderPage } from '../../../src/outputs/html/page.js';
import { markdownOf } from '../../../src/outputs/markdown.js';
import { readRunState } from '../../../src/run/event-log.js';
import { readPatch, withPatches } from '../../../src/run/read-patch.js';
import { redactorOf } from '../../../src/secrets/redactor.js';
import { showQuestions } from '../../../src/ui/questions.js';
import { aReportAttempt, aReportCause } from '../../rig/a-report.js';
import { anEscalation } from '../../rig/builders.js';
import { runId, storedRun } from '../../rig/stored-run.js';
import { tempDir } from '../../rig/temp-dir.js';

const patchOf = (file: string, text: string) =>
  `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-old\n+${text}\n`;

const redactor = redactorOf([{ name: 'TOKEN', value: 'hunter2hunter2' }]);

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
  const escalation = anEscalation({ runId, choices: ['tests', 'app'], offers: offersOf(attempts) });
  return { project, dir, report, escalation: withPatches(project, escalation, redactor) };
}

it.each([
  [
    'report.html',
    async ({ report, dir }) =>
      renderPage(await loadRun(report, await readRunState(dir), { dir, shown: 'runs/x', redactor }), ''),
  ],
  [
    'the Markdown summary',
    ({ report, dir }) =>
      markdownOf(report, { folder: 'x', patchText: (patch) => readPatch(dir, patch, redactor) }),
  ],
  ['`escalations show`', ({ escalation }) => asPage(escalation)],
  ['the live page', ({ escalation }) => String(showQuestions([escalation]))],
] satisfies [string, (run: Awaited<ReturnType<typeof asked>>) => string | Promise<string>][])(
  'BL-6 ME-5 RP-4 %s shows both patches of a question, the tests first, with their proofs',
  async (_, show) => {
    // Words of a diff are marked one by one.
    const shown = (await show(await asked())).replaceAll(/<\/?(?:ins|del)>/g, '');
    const [tests, app] = [shown.indexOf('and new words'), shown.indexOf('the old words')];
    expect(tests).toBeGreaterThan(0);
    expect(app).toBeGreaterThan(tests);
    expect(shown.match(/green 2 times with it, red without/g)).toHaveLength(2);
    expect(shown).not.toContain('hunter2hunter2');
  },
);

it('HN-10 a patch is read from its run’s own folder alone', async () => {
  const { project, dir, escalation } = await asked();
  for (const patch of ['../../../package.json', 'report.json', 'attempts/4.patch', null])
    expect(readPatch(dir, patch, redactor), String(patch)).toBeNull();
  const elsewhere = withPatches(project, { ...escalation, runId: '../runs/x' }, redactor);
  expect(elsewhere.offers.map(({ text }) => text)).toEqual([null, null]);
  expect(asPage(elsewhere)).toContain('is not on this machine');
});
