/// <reference lib="dom" />
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, type Page, type TestInfo } from '@playwright/test';
import { execa } from 'execa';
import { loadSettings } from '../../src/config/load-settings.js';
import type { Escalation, Question } from '../../src/model/escalation.js';
import { writeFailureRecord } from '../../src/run/failure-record.js';
import { createStore } from '../../src/store/create-store.js';
import { openStore } from '../../src/store/open-store.js';
import { aDiagnosed, anAttempt, anEvidence, aTest } from '../rig/builders.js';
import { aCauseRecord, agentStarted, shownRun, type ShownRun } from '../rig/shown-run.js';
import { pixel } from '../rig/stored-run.js';
import { axeViolations } from './axe.js';

const runId = '20261121-071500-000a';
const selfHeal = path.join(import.meta.dirname, '..', '..', 'bin', 'self-heal.js');

test(
  'RP-5 ME-7 shows a run live in a browser, where its question can be answered',
  { tag: '@narrow' },
  async ({ page }, testInfo) => {
    const dir = await shopIn(testInfo, 'größe mit raum');
    const troubles = troublesOf(page);
    const { program: ui } = await startUi(page, dir);
    await expect(page.getByText('No run yet')).toBeVisible();

    const run = await shownRun(dir, runId);
    await beginRun(run);
    await expect(page.getByRole('status').filter({ hasText: 'c1: agent working, try 1' })).toBeVisible();
    const card = page.getByRole('article', { name: /^c1/ });
    await expect(page.getByText('reads <b>src/cart.ts</b>')).toBeVisible();
    await expect(
      page.getByRole('heading', { name: '<img src=x onerror=alert(1)> total is undefined' }),
    ).toBeVisible();
    expect(await page.locator('img, b').count()).toBe(0);
    expect(page.url()).not.toContain('token');

    await leaveEvidence(run);
    await run.tell({ type: 'run.warning', message: 'the store is slow' });
    await card.getByText('Error and stack').click();
    await healFirst(run);
    // What was expanded stays so, although the change appeared above it.
    await expect(card.getByRole('group', { name: 'Changes to src/cart.ts' })).toBeVisible();
    await expect(card.getByRole('group', { name: 'Error and stack' })).toBeVisible();
    await expect(page.locator('.cause.fixed')).toHaveCount(1);
    await expect(card.getByText('red red | green green green | red | green')).toBeVisible();
    await expect(card.getByRole('heading', { name: 'Why runtime-error' })).toBeVisible();
    await expect(card.getByRole('img', { name: /the page when c1's test failed/ })).toHaveJSProperty(
      'naturalWidth',
      1,
    );

    const asked = await ask(dir, run);
    await expect(page.getByRole('article', { name: new RegExp(`^${asked.id}`) })).toBeVisible();
    expect(
      await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
    }
    await answer(page, asked);
    const { stdout } = await execa(process.execPath, [selfHeal, 'escalations', 'show', asked.id, '--json'], {
      cwd: dir,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'resolved',
      choice: 'guide',
      guidance: 'It is Thanks, as on the sign. The tests of this failure may be changed.',
    });
    await expect(page.getByRole('article', { name: new RegExp(`^${asked.id}`) })).toHaveCount(0);
    await endWithReport(run, page);
    expect(troubles).toEqual([]);

    ui.kill('SIGINT');
    expect((await ui).exitCode).toBe(0);
    await expect(page.getByText('connection lost')).toBeVisible();
  },
);

/** Collects page errors and console errors, which include violations of the content security policy. */
function troublesOf(page: Page): string[] {
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(message.text());
  });
  return troubles;
}

/** The totals of a suite with one failed test. */
const oneFailed = { total: 1, passed: 0, failed: 1, flaky: 0, skipped: 0, notRun: 0 };

/** Starts a run, up to an agent at work. What the app under test wrote looks like markup. */
/** Makes a project without anything but its name. */
async function shopIn(testInfo: TestInfo, folder = 'shop'): Promise<string> {
  const dir = testInfo.outputPath(folder);
  await mkdir(dir, { recursive: true });
  await writeFile(path.join(dir, 'package.json'), '{ "name": "shop" }');
  return dir;
}

/** Starts `self-heal ui` and opens its page. The program is in an object, because it would be awaited otherwise. */
async function startUi(page: Page, dir: string) {
  const program = execa(process.execPath, [selfHeal, 'ui'], { cwd: dir, reject: false });
  const [line] = (await once(program.stdout, 'data')) as [Buffer];
  await page.goto(line.toString().trim());
  return { program };
}

async function beginRun(run: ShownRun): Promise<void> {
  const causeId = 'c1';
  const headline = '<img src=x onerror=alert(1)> total is undefined';
  const tests = [aTest('t1', { titlePath: ['cart.spec.ts', 'adds up <script>alert(2)</script>'] })];
  await run.tell(
    {
      type: 'run.started',
      runId,
      project: 'shop',
      playwright: '1.65.0',
      dryRun: false,
      verify: 'full',
    },
    { type: 'suite.started', purpose: 'first', tests: null, causeId: null },
    { type: 'suite.ended', purpose: 'first', causeId: null, ...oneFailed, durationMs: 900 },
    { type: 'cause.found', cause: aCauseRecord({ headline, tests }) },
    { type: 'cause.started', causeId },
    {
      ...agentStarted,
      causeId,
    },
    { type: 'agent.activity', causeId, text: 'reads <b>src/cart.ts</b>' },
  );
}

/** Ends the run, which is then shown as in its report.html, by the same code. */
async function endWithReport(run: ShownRun, page: Page): Promise<void> {
  const totals = { durationMs: 9, agentRuns: 1, agentRunsAvoided: 0, costUsd: null, commit: null };
  const asked = { causeId: 'c2', verdict: 'escalated', reason: 'Tanks or Thanks?', attempts: 1 } as const;
  await run.tell(
    { type: 'cause.ended', ...asked, costUsd: null },
    { type: 'run.ended', outcome: 'escalated', exitCode: 3, ...totals },
  );
  await expect(page.getByRole('heading', { name: 'Fixed 1' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Not fixed 1' })).toBeVisible();
  const cause = page.getByRole('article', { name: /^c1/ });
  await expect(cause.getByRole('group', { name: 'Changes to src/cart.ts' })).toBeVisible();
  await expect(cause.getByRole('img', { name: /when c1's test failed/ })).toHaveJSProperty('naturalWidth', 1);
  await expect(page.getByRole('heading', { name: 'Waiting for you' })).toHaveCount(1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await axeViolations(page)).toEqual([]);
}

async function leaveEvidence({ dir }: ShownRun): Promise<void> {
  await mkdir(path.join(dir, 'attempts'));
  const patch = '--- a/src/cart.ts\n+++ b/src/cart.ts\n@@ -1 +1 @@\n-before\n+after\n';
  await writeFile(path.join(dir, 'attempts', '1.patch'), patch);
  const folder = path.join(dir, 'failures', '1');
  await mkdir(folder, { recursive: true });
  const screenshot = path.join(folder, 'screenshot.png');
  await writeFile(screenshot, pixel);
  await writeFailureRecord(folder, aDiagnosed({ evidence: anEvidence({ screenshot }) }));
}

async function healFirst(run: ShownRun): Promise<void> {
  const causeId = 'c1';
  const proof = ['red', 'red', 'green', 'green', 'green', 'red', 'green'] as const;
  const files = [{ path: 'src/cart.ts', added: 1, removed: 1 }];
  await run.tell(
    {
      type: 'agent.ended',
      causeId,
      attempt: 1,
      exit: 'completed',
      durationMs: 4200,
      costUsd: 0.12,
      agentError: null,
      filesChanged: 1,
      orphans: [],
    },
    {
      type: 'attempt.judged',
      causeId,
      attempt: anAttempt({ end: { kind: 'green', proof }, files, patch: 'attempts/1.patch' }),
    },
    {
      type: 'cause.ended',
      causeId,
      verdict: 'healed',
      reason: 'it passed three times',
      attempts: 1,
      costUsd: null,
    },
    { type: 'cause.found', cause: aCauseRecord({ id: 'c2', headline: 'RangeError: the count' }) },
  );
}

/** Asks a question as a run does: first in the store, then as an event. */
async function ask(dir: string, run: ShownRun, signature = 'shop:Error:00000002'): Promise<Escalation> {
  const settings = await loadSettings({ cwd: dir, env: {} });
  if (!settings.ok) throw new Error(settings.error.message);
  const opened = await openStore(settings.value.store, dir);
  if (!opened.ok) throw new Error(opened.error.message);
  const ledger = createStore(opened.value, settings.value.project, Date.now);
  const question: Question = {
    signature,
    category: 'unknown',
    retry: 'code_error',
    tests: [{ id: 't2', name: 'words.spec.ts › says thanks' }],
    problem: 'The agent asks: is it Tanks or Thanks?',
    tried: ['/code-review changed nothing; the test failed the same way.'],
    recommendation: 'Answer the question as guidance.',
    choices: ['skip', 'simplify', 'guide'],
    offers: [],
  };
  const asked = (await ledger.escalate(question, runId))!;
  await ledger.close();
  const escalationId = asked.id;
  await run.tell({
    type: 'agent.waiting_for_input',
    causeId: 'c2',
    question: question.problem,
    escalationId,
  });
  return asked;
}

/** Answers with the keyboard only. An answer without guidance is refused first. */
async function answer(page: Page, { id }: Escalation): Promise<void> {
  const form = page.getByRole('article', { name: new RegExp(`^${id}`) });
  await form.getByRole('radio', { name: 'Skip it' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(form.getByRole('radio', { name: 'Give guidance to the agent' })).toBeChecked();
  await form.getByRole('button', { name: 'Answer' }).press('Enter');
  await expect(form.getByRole('alert').filter({ hasText: 'Write the guidance first.' })).toBeVisible();
  await page.getByLabel('Guidance for the next agent').focus();
  await page.keyboard.type('It is Thanks, as on the sign.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(
    page.getByRole('status').filter({ hasText: `${id} was answered: the next run tries again` }),
  ).toBeVisible();
}

test('RP-5 ME-7 keeps what is being typed or was expanded when something new appears above it', async ({
  page,
}, testInfo) => {
  const dir = await shopIn(testInfo);
  const run = await shownRun(dir, runId);
  await beginRun(run);
  const seen = {
    file: 'cart.spec.ts',
    line: 1,
    project: 'chromium',
    verdict: 'failed',
    durationMs: 1,
  } as const;
  const tests = ['t1', 't2'].map((id) => ({ ...seen, id, title: [id] }));
  await run.tell({ type: 'tests.seen', tests });
  const { id } = await ask(dir, run);
  const { program: ui } = await startUi(page, dir);

  await page.getByText('2 tests: 2 failed').click();
  await run.tell({ type: 'tests.decided', ids: ['t2'], verdict: 'healed' });
  await expect(page.getByText('2 tests: 1 failed, 1 healed')).toBeVisible();
  await expect(page.getByRole('group', { name: 'All tests' })).toBeVisible();

  const typed = page.getByRole('article', { name: new RegExp(`^${id}`) }).getByRole('textbox');
  await typed.focus();
  await page.keyboard.type('It is Thnks');
  for (let back = 0; back < 3; back += 1) await page.keyboard.press('ArrowLeft');
  await ask(dir, run, 'shop:Error:00000003');
  await expect(page.getByRole('textbox')).toHaveCount(2);
  await page.keyboard.type('a');
  await expect(typed).toHaveValue('It is Thanks');
  ui.kill('SIGINT');
  expect((await ui).exitCode).toBe(0);
});
