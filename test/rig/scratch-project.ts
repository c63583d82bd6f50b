import path from 'node:path';
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { expect } from 'vitest';
import type { StampedEvent } from '../../src/event.js';
import { readRunState } from '../../src/run/event-log.js';
import { createReport, type Report, type ReportCause } from '../../src/run/report.js';
import { writeInto } from './agent-workspace.js';
import { launchOptions } from './chromium.js';
import { linkPackages } from './link-packages.js';
import { tempDir } from './temp-dir.js';

const repository = path.resolve(import.meta.dirname, '../..');

/** A user's project in a temporary folder, in which the built command runs. */
export interface ScratchProject {
  readonly dir: string;
  write(files: Record<string, string>): Promise<void>;
  read(file: string): Promise<string>;
  /** Runs the built `self-heal` to its end. */
  selfHeal(args: readonly string[], env?: Record<string, string>): Promise<Finished>;
  /** Starts it, for tests that interrupt it. */
  start(args: readonly string[], env?: Record<string, string>): ReturnType<typeof startIn>;
}

/** The result of a finished command, with the report and events of its run. */
export interface Finished {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly report: Report | null;
  readonly events: readonly StampedEvent[];
}

const manifest = {
  'package.json': '{ "name": "scratch" }',
  '.gitignore': 'node_modules\ntest-results\n',
};

/** A page that says "Thanks" when its button is pressed, and a test that reads the page's source and so needs no browser. */
export const shopFiles = {
  ...manifest,
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, reporter: [['list']] });`,
  'page.html': '<button id="buy" onclick="this.textContent = \'Thanks\'">Buy</button>',
  'tests/shop.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { readFileSync } from 'node:fs';
    test('buys', () => {
      // The error must not depend on other text of the page, since another error would count as progress.
      expect(readFileSync('page.html', 'utf8').includes('Thanks')).toBe(true);
    });`,
};

/** The same page, and a test that presses the button in a browser. */
export const pageFiles = {
  ...shopFiles,
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({
      testDir: 'tests', workers: 1, reporter: [['list']],
      expect: { timeout: 2_500 }, use: { actionTimeout: 2_500, launchOptions: ${launchOptions} },
    });`,
  'tests/shop.spec.ts': `
    import { test, expect } from '@playwright/test';
    import path from 'node:path';
    import { pathToFileURL } from 'node:url';
    test('buys', async ({ page }) => {
      await page.goto(pathToFileURL(path.resolve('page.html')).href);
      await page.locator('#buy').click();
      await expect(page.getByText('Thanks')).toBeVisible();
    });`,
};

/** Returns an `agents.yaml` in which every agent is this program, with short waits. */
export function agentsYaml(command: readonly string[], more = '', retries = 3): string {
  return `version: 1
runner: own
runners:
  own: { command: ${JSON.stringify(command)}, prompt: stdin }
retries: { max: ${retries}, backoff: { initial: 10ms, factor: 1, max: 10ms } }
${more.includes('verify:') ? '' : 'verify: { repeat: 1, flips: 0, regression: none }'}
${more}`;
}

/** Returns a program that replaces text in files of the project; each edit is [file, from, to]. */
export function editingAgent(edits: readonly (readonly [string, string, string])[]): string {
  return `import { readFileSync, writeFileSync } from 'node:fs';
for (const [file, from, to] of ${JSON.stringify(edits)}) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}
console.log('SELF-HEAL: ' + JSON.stringify({ status: 'fixed', summary: 'edited' }));
`;
}

/** Returns the cause of the test with this title in a run's report; throws if it has none. */
export function findCause({ report, stderr }: Finished, title: string): ReportCause {
  const test = report?.tests.find((one) => one.title.at(-1) === title);
  const cause = report?.causes.findLast(({ tests }) => test !== undefined && tests.includes(test.id));
  if (!cause) throw new Error(`${title} has no cause: ${stderr}`);
  return cause;
}

/** Creates a project. Unless `dir` is given, it is removed after the current test. */
export async function scratchProject(
  files: Record<string, string> = shopFiles,
  dir = tempDir('scratch größe'),
): Promise<ScratchProject> {
  const project = projectIn(dir);
  await project.write(files);
  await linkPackages(dir);
  return project;
}

/** Returns the existing project in a folder, without linking any packages. */
export function projectIn(dir: string): ScratchProject {
  const start: ScratchProject['start'] = (args, env = {}) => startIn(dir, args, env);
  return {
    dir,
    write: async (files) => writeInto(dir, files),
    read: (file) => readFile(path.join(dir, file), 'utf8'),
    start,
    selfHeal: async (args, env) => {
      const { exitCode, stdout, stderr } = await start(args, env);
      const left = await readLatestRun(dir);
      if (left.events.at(-1)?.type === 'run.ended') await expectReportMatchesEvents(dir, left.report);
      return { exitCode, stdout, stderr, ...left };
    },
  };
}

function startIn(dir: string, args: readonly string[], env: Record<string, string>) {
  return execa(process.execPath, [path.join(repository, 'bin', 'self-heal.js'), ...args], {
    cwd: dir,
    env: { ...userEnv(), ...env },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    // On a busy machine, the clean-up after a SIGTERM takes longer.
    forceKillAfterDelay: false,
  });
}

/** Returns the environment without the variables of this test runner or of an agent that started it. */
export function userEnv(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|TEST|NODE_ENV|NODE_OPTIONS|FORCE_COLOR|NO_COLOR|CI$|npm_|CODEX_)/.test(name),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

/** Returns the folder of the run that `.self-heal/latest` names. */
function findLatestRun(dir: string): string {
  const latest = path.join(dir, '.self-heal', 'latest');
  return existsSync(latest) ? realpathSync(latest) : latest;
}

async function readLatestRun(dir: string): Promise<Pick<Finished, 'report' | 'events'>> {
  const latest = findLatestRun(dir);
  const read = async (file: string) =>
    existsSync(path.join(latest, file)) ? readFile(path.join(latest, file), 'utf8') : '';
  const report = await read('report.json');
  const events = (await read('events.ndjson')).split('\n').filter((line) => line !== '');
  return {
    report: report === '' ? null : (JSON.parse(report) as Report),
    events: events.map((line) => JSON.parse(line) as StampedEvent),
  };
}

/** Checks that the report equals the one made from the events (RP-2). */
async function expectReportMatchesEvents(dir: string, report: Report | null): Promise<void> {
  if (!report) return;
  const told = createReport(await readRunState(findLatestRun(dir)));
  expect(report).toEqual(JSON.parse(JSON.stringify(told)));
}
