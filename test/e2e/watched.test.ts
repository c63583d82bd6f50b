import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { launchOptions } from '../rig/chromium.js';
import { freePort } from '../rig/free-port.js';
import { linkPackages } from '../rig/link-packages.js';
import { agentsYaml, scratchProject, shopFiles, userEnv } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const configOf = (port: number, server: string) => `
  import { defineConfig } from '@playwright/test';
  export default defineConfig({
    testDir: 'tests', workers: 1, reporter: [['list']], expect: { timeout: 2_500 },
    use: { baseURL: 'http://127.0.0.1:${port}', launchOptions: ${launchOptions} },
    webServer: { command: 'node ${server}', url: 'http://127.0.0.1:${port}/' },
  });`;

/** Returns the lines of a file, each as often as it is there; none if there is no file. */
function countsIn(file: string): number[] {
  const counts = new Map<string, number>();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts.values()];
}

it('CL-3 a server that embeds Vite reloads no page while a suite runs', async () => {
  const port = await freePort();
  const project = await scratchProject({
    ...shopFiles,
    'playwright.config.ts': configOf(port, 'server.mjs'),
    'server.mjs': `
      import { appendFileSync, readFileSync } from 'node:fs';
      import { createServer as listen } from 'node:http';
      import { createServer } from 'vite';
      const server = listen((request, response) => vite.middlewares(request, response, async () => {
        if (request.url === '/loaded') appendFileSync(process.env.LOADS, process.pid + '\\n');
        response.setHeader('content-type', 'text/html');
        response.end(await vite.transformIndexHtml(request.url, readFileSync('page.html', 'utf8')));
      }));
      const vite = await createServer({
        server: { middlewareMode: true, hmr: { server } }, appType: 'custom', cacheDir: process.env.LOADS + '.vite',
      });
      server.listen(${port}, '127.0.0.1');`,
    'page.html': '<h1>Step 1</h1><button>Next</button><script type="module" src="/main.js"></script>',
    'main.js': `
      let step = 1;
      fetch('/loaded');
      document.querySelector('button').onclick = () => (document.querySelector('h1').textContent = 'Step ' + (step += 1));`,
    'tests/shop.spec.ts': `
      import { test, expect } from '@playwright/test';
      test('goes to step 4', async ({ page }) => {
        await page.goto('/');
        for (const step of [1, 2, 3]) {
          await expect(page.getByRole('heading')).toHaveText('Step ' + step);
          await page.waitForTimeout(300);
          if (step < 3) await page.getByRole('button').click();
        }
        await expect(page.getByRole('heading')).toHaveText('Step 4');
      });`,
    'agents.yaml': agentsYaml(['node', '-v']),
  });
  await linkPackages(project.dir, ['vite']);
  const loads = path.join(tempDir('loads'), 'of');
  const cli = path.join(project.dir, 'node_modules/@playwright/test/cli.js');
  const env = { ...userEnv(), LOADS: `${loads} plain` };
  await execa(process.execPath, [cli, 'test'], { cwd: project.dir, env, extendEnv: false, reject: false });
  const [plain = 0] = countsIn(`${loads} plain`);
  expect(plain).toBeGreaterThan(0);
  const run = await project.selfHeal(['run', '--dry-run'], { LOADS: `${loads} healed` });
  expect(run.report?.causes.map(({ headline }) => headline)).toEqual([expect.stringContaining('Step 4')]);
  expect(countsIn(`${loads} healed`), run.stderr).toEqual([plain, plain]);
});

it('CL-3 HN-5 AG-2 while a suite runs, only its tests write below the project', async () => {
  const port = await freePort();
  const words = ['one', 'two'];
  const project = await scratchProject({
    ...shopFiles,
    'playwright.config.ts': configOf(port, 'server.mjs'),
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
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'limits: { parallel: 2 }\nverify: { repeat: 1 }'),
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
