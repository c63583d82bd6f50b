import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gatherFacts } from '../../src/doctor/self-test/run-self-test.js';
import { layOut } from '../../src/doctor/self-test/lay-out.js';
import { scenarios } from '../../src/doctor/self-test/scenarios.js';
import { findPlaywright } from '../../src/playwright/find-playwright.js';
import { aReport } from '../rig/a-report.js';
import { tempDir } from '../rig/temp-dir.js';

const repository = path.resolve(import.meta.dirname, '../..');
const source = path.join(repository, 'src/doctor/self-test/project');
const browser = { browserName: 'chromium', headless: true } as const;

async function laidOut() {
  const playwright = findPlaywright(repository);
  if (!playwright.ok) throw new Error(playwright.error.message);
  const made = await layOut(tempDir('self-test'), {
    playwright: playwright.value,
    browser,
    env: process.env,
    source,
  });
  if (!made.ok) throw new Error(made.error.message);
  return made.value;
}

it("CL-11 the scratch copy contains every scenario, the project's Playwright, its browser and a free port", async () => {
  const { project, state, planted } = await laidOut();
  expect(scenarios.filter(({ spec }) => !planted.has(spec))).toEqual([]);
  for (const file of planted.keys()) accessSync(path.join(project, file), constants.W_OK);
  // Links are followed, so it is the same installation.
  expect(findPlaywright(project)).toEqual(findPlaywright(repository));
  expect(existsSync(path.join(project, 'node_modules/playwright/test.mjs'))).toBe(true);
  const settings = JSON.parse(await readFile(path.join(project, 'self-test.json'), 'utf8')) as object;
  expect(settings).toEqual({ port: expect.any(Number) as number, browser, state });
  expect(await readFile(path.join(project, 'agents.yaml'), 'utf8')).toContain(
    JSON.stringify(process.execPath),
  );
  expect(existsSync(path.join(project, '.git'))).toBe(true);
});

it('CL-11 each scripted agent of the self-test finds the text that it edits', async () => {
  const { project, planted } = await laidOut();
  const agent = planted.get('agent.mjs') ?? '';
  for (const { spec } of scenarios.filter(({ name }) => name !== 'flake'))
    expect(agent).toContain(`'${spec}'`);
  const parts = {
    'tests/5-drifted-locator.spec.mjs': "'order-button'",
    'app/total.mjs': 'item.cost.amount',
    'tests/1-cheat.spec.mjs': "toHaveText('4 in stock')",
    'app/greeting.mjs': "'Hello, guest'",
  };
  for (const [file, part] of Object.entries(parts)) {
    expect(await readFile(path.join(project, file), 'utf8')).toContain(part);
    expect(agent.replaceAll('\\', '')).toContain(part);
  }
});

it('CL-11 gathers no facts without a report', async () => {
  expect(await gatherFacts(await laidOut(), [])).toBeNull();
});

it('CL-11 gathers facts from the bytes of files and from running processes, not from the report', async () => {
  const scratch = await laidOut();
  const { project, state } = scratch;
  const living = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const dead = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  onTestFinished(() => void living.kill('SIGKILL'));
  await once(dead, 'exit');
  await writeFile(path.join(state, 'pids.json'), JSON.stringify([living.pid, dead.pid]));
  await writeFile(path.join(project, 'app/stock.html'), '4 in stock');
  await layReport(project);
  expect(await gatherFacts(scratch, ['7 chrome'])).toMatchObject({
    changed: new Set(['app/stock.html']),
    started: [living.pid, dead.pid],
    alive: [living.pid],
    orphans: ['7 chrome'],
  });
});

it('CL-11 a copy that cannot be made is a problem with a remedy, and leaves no files', async () => {
  const dir = tempDir('self-test');
  const playwright = { version: '1.65.0', cli: '', packageDir: path.join(dir, 'nowhere') };
  const made = await layOut(path.join(dir, 'scratch'), { playwright, browser, env: process.env, source });
  expect(made).toMatchObject({ ok: false, error: { kind: 'folder-not-writable' } });
  expect(readdirSync(dir)).toEqual([]);
});

async function layReport(project: string): Promise<void> {
  const latest = path.join(project, '.self-heal', 'latest');
  await mkdir(latest, { recursive: true });
  await writeFile(path.join(latest, 'report.json'), JSON.stringify(aReport()));
}
