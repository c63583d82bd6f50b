import { expect, it } from 'vitest';
import { findHandler } from '../../../src/agents/handlers.js';
import { gitRepository } from '../../rig/git-repository.js';

const files = {
  'server/app.ts': [
    "import { Hono } from 'hono';",
    "import { reminders } from './reminders.js';",
    "import alerts from './alerts';",
    "app.route('/api/reminders', reminders);",
    "app.route('/api', alerts);",
  ].join('\n'),
  'server/reminders.ts': [
    "import { saveAll } from './store.js';",
    'export const reminders = new Hono();',
    "reminders.get('/', (c) => c.json([]));",
    "reminders.put('/bulk', async (c) => {",
    '  await saveAll(await c.req.json());',
    '  return c.json({ ok: true });',
    '});',
  ].join('\n'),
  'server/alerts.ts': "export default new Hono().get('/alerts/:id', (c) => c.json({}));\n",
  'server/store.ts': 'const db = 1;\nexport async function saveAll(ids) {}\n',
  'src/routes/api/things/[id]/+server.ts': 'const a = 1;\nexport const GET = () => null;\n',
  'public/app.js': "await fetch('/api/things/9');\nawait api.get('/api/reminders');\n",
  'src/names.mjs': "if (q.url === '/legal/terms') return terms();\n",
  'e2e/a.spec.ts': "await request.get('/legal/terms');\n",
};

it.each([
  ['PUT', '/api/reminders/bulk', 'server/reminders.ts:4', ['saveAll (server/store.ts:2)']],
  ['GET', '/api/reminders?hasReminder=true', 'server/reminders.ts:3', []],
  ['GET', '/api/alerts/7', 'server/alerts.ts:1', []],
  ['GET', '/api/things/9', 'src/routes/api/things/[id]/+server.ts:2', []],
  ['GET', '/legal/terms', 'src/names.mjs:1', []],
])(
  'EV-16 finds the code that answers %s %s, even in a mounted router',
  async (method, address, at, calls) => {
    const { dir, commit } = gitRepository();
    commit(files, 'First');
    const handler = await findHandler({ method, url: `http://localhost:3000${address}`, status: 500 }, dir);
    expect(handler).toMatchObject({ at, calls, isNear: false });
  },
);

it('EV-16 says that a route is only the nearest one if none matches exactly', async () => {
  const { dir, commit } = gitRepository();
  commit(files, 'First');
  const url = 'http://localhost:3000/legal/terms/old';
  const handler = await findHandler({ method: 'GET', url, status: 500 }, dir);
  expect(handler).toMatchObject({ at: 'src/names.mjs:1', isNear: true });
});

it('EV-16 a static page names the scripts of the project that it loads', async () => {
  const { dir, commit } = gitRepository();
  const html =
    '<script src="/help.js"></script><script type="module">import { day } from "./format.js";</script>';
  const scripts = { 'public/help.js': 'open();\n', 'public/format.js': 'export const day = 1;\n' };
  commit({ ...files, ...scripts, 'public/index.html': html, 'docs/old/index.html': '<p>' }, 'First');
  const handler = await findHandler({ method: 'GET', url: 'http://localhost:3000/', status: 200 }, dir);
  expect(handler).toMatchObject({
    at: 'public/index.html:1',
    calls: ['public/help.js:1', 'public/format.js:1'],
  });
});
