import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentsYaml, scratchProject, pageFiles, type ScratchProject } from '../rig/scratch-project.js';

const page = '<button onclick="undefined.id">Buy</button>';
const spec = `import { test, expect } from '@playwright/test';
  import path from 'node:path';
  import { pathToFileURL } from 'node:url';
  for (const word of ['Thanks', 'Bought'])
    test('says ' + word, async ({ page }) => {
      await page.goto(pathToFileURL(path.resolve('page.html')).href);
      await page.getByText('Buy').click();
      await expect(page.getByText(word)).toBeVisible({ timeout: 100 });
    });`;
const dir = mkdtempSync(path.join(tmpdir(), 'self-heal inspect '));
/** Saves its prompt, and makes a change that does not help. */
const agent = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
  let n = 1;
  // In the project: what an agent writes into ignored files of its copy stays there.
  while (existsSync(${JSON.stringify(dir)} + '/got.' + n)) n += 1;
  writeFileSync(${JSON.stringify(dir)} + '/got.' + n, readFileSync(0));
  appendFileSync('page.html', '<!-- ' + n + ' -->');`;
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
let project: ScratchProject;
beforeAll(async () => {
  const files = {
    ...pageFiles,
    'page.html': page,
    'tests/shop.spec.ts': spec,
    'fixer.mjs': agent,
    '.gitignore': 'node_modules\ntest-results\ngot.*\n',
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], '', 2),
  };
  project = await scratchProject(files, dir);
  await project.selfHeal(['run']);
});

describe('inspect after a run', () => {
  it('CL-9 lists each failure once, with its verdict', async () => {
    const { stdout, exitCode } = await project.selfHeal(['inspect']);
    expect(exitCode).toBe(0);
    const rows = stdout.split('\n').filter((line) => /^ +\d+ /.test(line));
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(
      /\d +failed +runtime-error +c1 +shop\.spec\.ts:5 › says Thanks \(seen \d times\)/,
    );
  });

  it('CL-9 shows the evidence and the deciding reasons', async () => {
    const { stdout } = await project.selfHeal(['inspect', 'latest', 'says Thanks']);
    expect(stdout).toContain('runtime/javascript in console');
    expect(stdout).toMatch(/what happened, in order\n[^]*\[pageerror\] TypeError: .* ← decided\n/);
    expect(stdout).toMatch(/1 \/debugger \(own\) .* → still red, reverted( \(.*\))?\n/);
    expect(stdout).toMatch(/failures\/\d\/screenshot\.\w+ {2}[\d.]+ kB/);
  });

  it('CL-9 --prompt prints the prompt of each attempt byte for byte', async () => {
    const last = await project.selfHeal(['inspect', 'c1', '--prompt']);
    expect(`${last.stdout}\n`).toBe(await project.read('got.2'));
    const first = await project.selfHeal(['inspect', 'c1', '--prompt', '--attempt', '1']);
    expect(`${first.stdout}\n`).toBe(await project.read('got.1'));
    expect(first.stdout).not.toBe(last.stdout);
    expect(first.stderr).toContain('as sent to /debugger in attempt 1');
  });

  it('CL-9 --json prints one document', async () => {
    const { stdout } = await project.selfHeal(['inspect', '1', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      failure: { n: expect.any(Number), diagnosis: { category: 'runtime-error' } },
      test: { verdict: 'failed' },
      cause: { id: 'c1' },
    });
  });

  it('CL-9 exits with 2 for an ambiguous or unknown failure, with the choices, and for an unknown run', async () => {
    const many = await project.selfHeal(['inspect', 'says']);
    expect([many.exitCode, many.stderr]).toEqual([2, expect.stringMatching(/\d .*Thanks\n.*\d .*Bought/)]);
    const none = await project.selfHeal(['inspect', 'says Goodbye']);
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining('says Thanks')]);
    const run = await project.selfHeal(['inspect', '20200101-000000-abcd', '1']);
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining('there is no run 20200101')]);
  });

  it('EV-12 RP-2 names a missing failure record, and shows a run without a report from its events', async () => {
    const latest = path.join(project.dir, '.self-heal/latest');
    await rm(path.join(latest, 'report.json'));
    await rm(path.join(latest, 'failures/2/failure.json'));
    const { stdout, exitCode } = await project.selfHeal(['inspect']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/· red · 2 tests\n +\d +failed/);
    expect(stdout).toContain('failures/2/failure.json cannot be read');
  });
});

it('CL-9 inspect exits with 2 in a project without runs, and says to start one', async () => {
  const { exitCode, stderr } = await (await scratchProject()).selfHeal(['inspect']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Run `self-heal run` first');
});
