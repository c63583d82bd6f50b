import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The root of the repository. */
export const root = path.resolve(import.meta.dirname, '..');
/** The built command. */
export const selfHeal = path.join(root, 'bin', 'self-heal.js');

/** The packages that `npm init playwright` installs: 22 MB. */
const playwright = ['@playwright/test', 'playwright', 'playwright-core', '@types/node', 'undici-types'];

/**
 * Creates a project of these files in a temporary folder, with Playwright installed, linked, or linked to all packages of the repository (13,000
 * files, 295 MB), which are copied for each agent; `remove` deletes it.
 */
export function scratchProject(files, { allPackages = false, linked = false } = {}) {
  const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-bench-'));
  for (const [file, text] of Object.entries({
    'package.json': '{ "name": "bench", "type": "module" }',
    ...files,
  })) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
  const [packages, own] = [root, dir].map((one) => path.join(one, 'node_modules'));
  if (allPackages) symlinkSync(packages, own, 'junction');
  else
    for (const name of playwright) {
      const [from, to] = [packages, own].map((folder) => path.join(folder, name));
      if (linked) {
        mkdirSync(path.dirname(to), { recursive: true });
        symlinkSync(from, to, 'junction');
      } else cpSync(from, to, { recursive: true });
    }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Serves a page that shows six items, each fetched from an API; `body` returns its markup for a URL, with a `<ul>`. */
export async function serveShop(body, script = '') {
  const page = (url) => `<!doctype html><title>Shop</title>${body(url)}<script>
  ${script}
  Promise.all([1,2,3,4,5,6].map((n) => fetch('/api/' + n).then((r) => r.json()))).then((items) => {
    document.querySelector('ul').innerHTML = items.map((item) => '<li>Item ' + item.id + '</li>').join('');
  });
</script>`;
  const server = createServer((request, response) => {
    const item = /^\/api\/(\d+)$/.exec(request.url ?? '');
    response.setHeader('content-type', item ? 'application/json' : 'text/html');
    response.end(item ? JSON.stringify({ id: Number(item[1]) }) : page(request.url));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { baseURL: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** Returns a port of the loopback address that nobody uses now. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
