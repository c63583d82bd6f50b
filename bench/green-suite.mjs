// What `self-heal run` costs on a green suite: 60 browser tests, against plain `playwright test`, pairwise and in
// alternating order within one run. Prints the median of the pairs' ratios and their range.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { launchOptions } from '../scripts/browser.mjs';

const rounds = Number(process.argv[2] ?? 7);
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-bench-'));

const page = `<!doctype html><title>Shop</title><h1>Shop</h1><ul></ul><script>
  for (let n = 0; n < 6; n += 1) console.log('item', n);
  Promise.all([1,2,3,4,5,6].map((n) => fetch('/api/' + n).then((r) => r.json()))).then((items) => {
    document.querySelector('ul').innerHTML = items.map((item) => '<li>Item ' + item.id + '</li>').join('');
  });
</script>`;
const server = createServer((request, response) => {
  const item = /^\/api\/(\d+)$/.exec(request.url ?? '');
  response.setHeader('content-type', item ? 'application/json' : 'text/html');
  response.end(item ? JSON.stringify({ id: Number(item[1]) }) : page);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;

mkdirSync(path.join(dir, 'tests'));
symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'), 'junction');
writeFileSync(path.join(dir, 'package.json'), '{ "name": "bench", "type": "module" }');
writeFileSync(
  path.join(dir, 'agents.yaml'),
  'version: 1\nrunner: own\nrunners: { own: { command: [node, -v], prompt: none } }\n',
);
writeFileSync(
  path.join(dir, 'playwright.config.ts'),
  `export default { testDir: 'tests', workers: 2, reporter: 'dot', use: { baseURL: '${url}', launchOptions: ${JSON.stringify(launchOptions())} } };`,
);
for (let file = 0; file < 6; file += 1) {
  const tests = Array.from(
    { length: 10 },
    (_, n) =>
      `test('shows items ${n}', async ({ page }) => { await page.goto('/'); await expect(page.getByText('Item 6')).toBeVisible(); await page.getByRole('heading').click(); });`,
  );
  writeFileSync(
    path.join(dir, 'tests', `f${file}.spec.ts`),
    `import { test, expect } from '@playwright/test';\n${tests.join('\n')}\n`,
  );
}

const commands = {
  plain: [path.join(root, 'node_modules', '@playwright', 'test', 'cli.js'), 'test'],
  healed: [path.join(root, 'bin', 'self-heal.js'), 'run'],
};
function time(which) {
  const started = performance.now();
  // The server lives in this process, so the child must not block it.
  return runChild(commands[which]).then(() => performance.now() - started);
}
async function runChild(args) {
  const { spawn } = await import('node:child_process');
  await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${args[1]} exited with ${code}\n${stderr}`)),
    );
  });
}

try {
  await time('plain');
  await time('healed');
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? ['plain', 'healed'] : ['healed', 'plain'];
    const took = {};
    for (const which of order) took[which] = await time(which);
    ratios.push(took.healed / took.plain);
    console.log(
      `round ${round + 1}: plain ${(took.plain / 1000).toFixed(2)} s, self-heal ${(took.healed / 1000).toFixed(2)} s, ratio ${ratios.at(-1).toFixed(3)}`,
    );
  }
  const sorted = ratios.toSorted((a, b) => a - b);
  console.log(
    `green suite of 60 browser tests: median ratio ${sorted[Math.floor(sorted.length / 2)].toFixed(3)} (${sorted[0].toFixed(3)} to ${sorted.at(-1).toFixed(3)}), aim <= 1.03`,
  );
} finally {
  server.close();
  rmSync(dir, { recursive: true, force: true });
}
