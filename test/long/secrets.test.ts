import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchOptions } from '../rig/chromium.js';
import { freePort } from '../rig/free-port.js';
import { leaksOf, plants as allPlants, variables } from '../rig/secrets/plants.js';
import { agentsYaml, scratchProject } from '../rig/scratch-project.js';

/**
 * Some of every kind but of the files that this project lacks, few enough that no channel cuts its text. They are in a file of their own, because agents may
 * read the source anyway.
 */
const plants = allPlants
  .filter(({ text, kind }) => text.length < 1000 && kind !== 'of a file')
  .filter((_, at) => at % 8 === 0);
const texts = [
  allPlants.find(({ kind }) => kind.startsWith('GitHub, '))?.value ?? '',
  ...plants.map(({ text }) => text),
];

const server = `
  import { createServer } from 'node:http';
  import { readFileSync } from 'node:fs';
  const texts = JSON.parse(readFileSync(process.env.PLANTED_FILE, 'utf8'));
  // Playwright puts a label before each chunk that it gets, so also into the middle of these lines.
  for (const secret of [texts[0], process.env.PAYMENT_API_KEY]) {
    process.stderr.write('split ' + secret.slice(0, 15));
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.stderr.write(secret.slice(15) + '\\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  createServer((request, response) => {
    for (const text of texts) console.log(text);
    for (const name of ['SHOP_DB_PASSWORD', 'PAYMENT_API_KEY', 'SESSION_SECRET']) console.error('have', process.env[name]);
    if (request.url.startsWith('/api')) {
      response.writeHead(500, { 'content-type': 'application/json', 'set-cookie': 'sid=' + texts.length });
      return response.end(JSON.stringify({ error: 'broken', texts: texts.slice(0, 40) }));
    }
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<title>Shop</title><h1>Shop</h1><label>Password <input type=password></label><p id=out></p>');
  }).listen(Number(process.env.SHOP_PORT), '127.0.0.1');
`;

const spec = `
  import { test, expect } from '@playwright/test';
  import { readFileSync } from 'node:fs';
  const texts: string[] = JSON.parse(readFileSync(process.env['PLANTED_FILE'] ?? '', 'utf8'));
  const [first = ''] = texts;
  // Playwright makes names of files of both, the title's shortened.
  test('pays with ' + first + ' and ' + process.env['SESSION_SECRET'], async ({ page }, info) => {
    await info.attach('bill of ' + process.env['PAYMENT_API_KEY'] + '.txt', { body: 'paid' });
    await page.goto('/?access_token=' + encodeURIComponent(first));
    await page.getByLabel('Password').fill(process.env['SHOP_DB_PASSWORD'] ?? '');
    await page.evaluate(async (all) => {
      document.title = all[0] ?? '';
      document.querySelector('#out')!.textContent = all.slice(0, 30).join(' | ');
      for (const text of all) console.error(text);
      setTimeout(() => { throw new Error(all.slice(0, 20).join('\\n')); });
      for (const text of all.slice(0, 20)) {
        await fetch('/api/pay?note=' + encodeURIComponent(text), {
          method: 'POST', body: text, headers: { authorization: 'Bearer x' + all.length, 'x-note': encodeURIComponent(text) },
        });
      }
    }, texts);
    await test.step('says ' + first, async () => {
      throw new Error('wrong: ' + texts.join('\\n') + process.env['PAYMENT_API_KEY']);
    });
  });
`;

/** The user's own reporter may print what it likes; here it prints nothing, so that all output is self-heal's. */
const silent = 'export default class { printsToStdio() { return true; } }';

/** Repeats everything that it is given or can read, and claims a fix. */
const tellTale = `
  import { readFileSync } from 'node:fs';
  process.stdin.on('data', (part) => process.stdout.write(part)).on('end', () => {
    process.stdout.write(readFileSync(process.env.PLANTED_FILE, 'utf8'));
    for (const text of JSON.parse(readFileSync(process.env.PLANTED_FILE, 'utf8'))) console.log(text);
    console.log(process.env.SHOP_DB_PASSWORD, process.env.PAYMENT_API_KEY, process.env.SESSION_SECRET);
    const summary = JSON.parse(readFileSync(process.env.PLANTED_FILE, 'utf8'))[0];
    console.log('SELF-HEAL: ' + JSON.stringify({ status: 'fixed', summary }));
  });
`;

function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((file) => path.join(dir, file))
    .filter((file) => statSync(file).isFile());
}

describe('a run in a project whose page, server and agent print secrets', () => {
  it('EV-9 EV-10 leaves no secret in any file of .self-heal or in its output', async () => {
    const port = await freePort();
    const project = await scratchProject({
      'package.json': '{ "name": "scratch", "type": "module" }',
      '.gitignore': 'node_modules\ntest-results\nplanted.json\n.env\n',
      'playwright.config.ts': `
        import { defineConfig } from '@playwright/test';
        export default defineConfig({
          testDir: 'tests', timeout: 30_000, workers: 1, reporter: './silent.mjs',
          use: { baseURL: 'http://127.0.0.1:${port}', launchOptions: ${launchOptions}, trace: 'on', screenshot: 'on' },
          webServer: { command: 'node server.mjs', url: 'http://127.0.0.1:${port}/', env: { SHOP_PORT: '${port}' } },
        });`,
      'silent.mjs': silent,
      'server.mjs': server,
      'tests/shop.spec.ts': spec,
      'fixer.mjs': tellTale,
      'planted.json': JSON.stringify(texts),
      '.env': `SIGNING=${variables.PAYMENT_API_KEY}\n`,
      'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'limits: { agentRuns: 1 }'),
    });
    const env = { ...variables, PLANTED_FILE: path.join(project.dir, 'planted.json') };
    const { stdout, stderr, report, events } = await project.selfHeal(['run'], env);
    expect(report?.totals.agentRuns).toBe(1);
    expect(events.some(({ type }) => type === 'agent.activity')).toBe(true);
    const left = filesIn(path.join(project.dir, '.self-heal'));
    const names = left.map((file) => path.basename(file));
    for (const name of ['context.json', 'prompt.md', 'timeline.md', '1.log']) {
      expect(names).toContain(name);
    }
    const written = [...left.map((file) => `${file}\n${readFileSync(file, 'utf8')}`), stdout, stderr];
    const secrets = [...plants, ...Object.entries(variables).map(([kind, value]) => ({ kind, value }))];
    const found = written.flatMap((text) =>
      leaksOf(secrets, text).map((leak) => `${leak} in ${text.split('\n', 1)[0]}`),
    );
    expect(found).toEqual([]);
    const log = written.find((text) => text.split('\n', 1)[0]?.endsWith('playwright.log'));
    expect(log).toMatch(/split \[masked: github token[ \d]*\]\n/);
    expect(log).toMatch(/split \[masked: value of PAYMENT_API_KEY\]\n/);
    expect(written.join('\n')).toContain('[masked: value of SHOP_DB_PASSWORD]');
  });
});
