import { expect, it } from 'vitest';
import { freePort } from '../rig/free-port.js';
import { committed } from '../rig/git-repository.js';
import { linkPackages } from '../rig/link-packages.js';
import { agentsYaml, scratchProject } from '../rig/scratch-project.js';

/** A shop that migrates its SQLite database, which git ignores, when it starts; a column that it reads has no migration. */
async function shop() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const project = await scratchProject({
    'package.json': '{ "name": "shop", "type": "module" }',
    '.gitignore': 'node_modules\ntest-results\n.self-heal\n.env\n*.db\nlocal.json\n',
    '.env': 'SHOP_NAME=Corner shop',
    'local.json': '{}',
    'migrations/1.sql': "CREATE TABLE items (name TEXT); INSERT INTO items VALUES ('Tea');",
    'server.mjs': `
      import Database from 'libsql';
      import { readdirSync, readFileSync } from 'node:fs';
      import { createServer } from 'node:http';
      readFileSync('.env');
      const db = new Database('dev.db');
      db.exec('CREATE TABLE IF NOT EXISTS migrated (name TEXT)');
      const done = db.prepare('SELECT name FROM migrated').all().map(({ name }) => name);
      for (const name of readdirSync('migrations').filter((one) => !done.includes(one))) {
        db.exec(readFileSync('migrations/' + name, 'utf8'));
        db.prepare('INSERT INTO migrated VALUES (?)').run(name);
      }
      createServer((request, response) => {
        if (request.url === '/up') return response.end('ok');
        try {
          response.end(JSON.stringify(db.prepare('SELECT name, stock FROM items').all()));
        } catch (error) {
          response.writeHead(500).end(String(error));
        }
      }).listen(${port}, '127.0.0.1');`,
    'playwright.config.ts': `
      export default { testDir: 'tests', workers: 1, reporter: 'list', use: { baseURL: '${url}' },
        webServer: { command: 'node server.mjs', url: '${url}/up' } };`,
    'tests/items.spec.ts': `
      import { test, expect } from '@playwright/test';
      test('lists what is there', async ({ request }) => {
        const answer = await request.get('/items');
        expect(await answer.text()).toContain('"stock":3');
      });`,
    'fixer.mjs': `
      import { writeFileSync } from 'node:fs';
      writeFileSync('migrations/2.sql', 'ALTER TABLE items ADD COLUMN stock INTEGER DEFAULT 3;');
      console.log('SELF-HEAL: {"status":"fixed","summary":"added the column"}');`,
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'verify: { repeat: 1, flips: 1, regression: none }'),
  });
  await linkPackages(project.dir, ['libsql', '@libsql', '@neon-rs', 'detect-libc']);
  committed(project.dir, 'The shop');
  return project;
}

it('HN-5 HL-7 proves a migration in a clean copy because a revert leaves the database migrated', async () => {
  const project = await shop();
  const { exitCode, report } = await project.selfHeal(['run']);
  // Green with the fix, and twice without it; then red in the copy, green there with it, and once more in the project.
  const proof = ['red', 'red', 'green', 'green', 'green', 'red', 'green', 'green'];
  expect(report?.causes).toMatchObject([{ verdict: 'healed', proof }]);
  expect(report?.warnings).toEqual([expect.stringMatching(/c1 in a clean copy: .*dev\.db/)]);
  expect(await project.read('migrations/2.sql')).toContain('stock');
  expect(exitCode).toBe(0);
});
