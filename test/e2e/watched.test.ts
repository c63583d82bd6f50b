import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { freePort } from '../rig/free-port.js';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

it('CL-3 AG-2 while a suite runs, only its tests write below the project', async () => {
  const port = await freePort();
  const words = ['one', 'two'];
  const project = await scratchProject({
    ...shopFiles,
    'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      export default defineConfig({
        testDir: 'tests', workers: 1, reporter: [['list']],
        webServer: { command: 'node server.mjs', url: 'http://127.0.0.1:${port}/' },
      });`,
    'server.mjs': `
      import { appendFileSync, watch } from 'node:fs';
      import { createServer } from 'node:http';
      watch('.', { recursive: true }, (_, file) => {
        if (!/^(?:test-results|node_modules)(?:\\/|$)/.test(file)) appendFileSync(process.env.WRITTEN, file + '\\n');
      });
      createServer((_, response) => response.end('ok')).listen(${port}, '127.0.0.1');`,
    ...Object.fromEntries(words.map((word) => [`${word}.html`, 'no\n'])),
    ...Object.fromEntries(
      words.map((word) => [
        `tests/${word}.spec.ts`,
        `import { test, expect } from '@playwright/test';
         import { readFileSync } from 'node:fs';
         test('${word}', async () => {
           // An agent of the other test ends meanwhile.
           await new Promise((resolve) => setTimeout(resolve, 1000));
           expect(readFileSync('${word}.html', 'utf8'), '${word}').toBe('yes\\n');
         });`,
      ]),
    ),
    'fixer.mjs': `
      import { readFileSync, writeFileSync } from 'node:fs';
      import { dirname } from 'node:path';
      if (!readFileSync(0, 'utf8').includes(dirname(process.env.SELF_HEAL_CONTEXT))) process.exit(1);
      const word = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test.titlePath.at(-1);
      await new Promise((resolve) => setTimeout(resolve, word === 'two' ? 1500 : 0));
      writeFileSync(word + '.html', 'yes\\n');
      console.log('Fix applied successfully');`,
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'limits: { parallel: 2 }'),
  });
  await execa('git', ['init', '-q'], { cwd: project.dir });
  const written = path.join(tempDir('written'), 'names');
  const run = await project.selfHeal(['run'], { WRITTEN: written });
  expect(run.report?.totals, run.stderr).toMatchObject({ healed: 2, agentRuns: 2 });
  const named = path.join(
    project.dir,
    '.self-heal/runs',
    run.report?.runId ?? '',
    run.report?.causes[0]?.evidence ?? '',
  );
  const prompt = readFileSync(path.join(named, 'prompt.md'), 'utf8');
  expect(prompt).toContain(named);
  expect(existsSync(written) ? readFileSync(written, 'utf8') : '').toBe('');
});
