import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { all, readXml } from '../rig/read-xml.js';
import { agentsYaml, editingAgent, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const broken = { 'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>' };
const fixed = { 'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]) };
const own = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs']) };
// A test that stays red, whose title would be a workflow command if it were not escaped.
const hostile = {
  'tests/z-red.spec.ts': `
    import { test, expect } from '@playwright/test';
    test.describe('odd ]]> "names"', () => {
      test('100%0A::error::owned', () => {
        expect(1, 'first\\n::error::owned').toBe(2);
      });
    });`,
};

it('RP-2 RP-3 a run in GitHub Actions leaves summary, annotations, outputs, and reports with Playwright’s test names', async () => {
  const files = tempDir('actions');
  const env = {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: path.join(files, 'summary'),
    GITHUB_OUTPUT: path.join(files, 'output'),
    PLAYWRIGHT_JUNIT_OUTPUT_FILE: path.join(files, 'playwright.xml'),
  };
  const config = shopFiles['playwright.config.ts'].replace("[['list']]", "[['list'], ['junit']]");
  const project = await scratchProject({
    ...shopFiles,
    'playwright.config.ts': config,
    ...broken,
    ...hostile,
    ...fixed,
    ...own,
  });
  const { exitCode, stdout, stderr, report } = await project.selfHeal(['run', '--json'], env);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toEqual(report);

  const commands = stderr.split('\n').filter((line) => line.startsWith('::'));
  expect(commands.map((line) => /^::\w+ file=[^,]+,line=\d+/.exec(line)?.[0] ?? line).toSorted()).toEqual([
    '::error file=tests/z-red.spec.ts,line=5',
    expect.stringMatching(/^::notice file=tests\/shop\.spec\.ts,line=\d+$/),
  ]);

  const summary = await readFile(env.GITHUB_STEP_SUMMARY, 'utf8');
  expect(summary).toBe(await project.read('.self-heal/latest/summary.md'));
  expect(summary).toContain('## self-heal: red, exit code 1');
  const output = await readFile(env.GITHUB_OUTPUT, 'utf8');
  expect(output).toMatch(/^outcome<<(?<end>\S+)\nred\n\k<end>\nhealed<<\k<end>\n1\n\k<end>\n/);

  const ours = readXml(await project.read('.self-heal/latest/junit.xml'));
  const theirs = all(readXml(await readFile(env.PLAYWRIGHT_JUNIT_OUTPUT_FILE, 'utf8')), 'testcase');
  const names = all(ours, 'testcase').map(({ attributes }) => [attributes['classname'], attributes['name']]);
  expect(names).toEqual([
    ['shop.spec.ts', 'buys'],
    ['z-red.spec.ts', 'odd ]]> "names" › 100%0A::error::owned'],
  ]);
  expect(theirs.map(({ attributes }) => [attributes['classname'], attributes['name']])).toEqual(names);
  expect(ours.attributes).toMatchObject({ tests: '2', failures: '1', errors: '0', skipped: '0' });
});

it('RP-3 a run that cannot start says why in GitHub Actions too', async () => {
  const summary = path.join(tempDir('actions'), 'summary');
  const project = await scratchProject({ 'package.json': '{ "name": "empty" }' });
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
  const { exitCode, stderr } = await project.selfHeal(['run'], env);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^::error title=self-heal could not run::/m);
  expect(await readFile(summary, 'utf8')).toContain('## self-heal could not run');
});
