// Pages that read an API with a database behind it: routes, properties and columns were renamed. The change is a commit.
import { servedFiles } from './served.mjs';

/** Each file of `server/` answers its routes. */
const routes = `import { readdirSync } from 'node:fs';
const all = await Promise.all(readdirSync('server').map((file) => import('./server/' + file)));
export async function routes(path, body) {
  for (const { answer } of all) {
    const found = await answer(path, body);
    if (found) return found;
  }
  return null;
}
`;
const database = `import { readdirSync, readFileSync } from 'node:fs';
import Database from 'libsql';
/** The database that the migrations of one number make, in their order. */
export function migrated(n) {
  const db = new Database(':memory:');
  for (const file of readdirSync('db').filter((one) => one.startsWith(n + '-')).sort())
    db.exec(readFileSync('db/' + file, 'utf8'));
  return db;
}
`;

const pageOf = (n, code) => ({
  [`app/${n}.html`]: `<body><script type="module" src="/${n}.js"></script></body>`,
  [`app/${n}.js`]: code,
});
const spec = (n, steps = `await page.goto('/${n}.html');`) => ({
  [`tests/${n}.spec.ts`]: `import { test, expect } from '@playwright/test';
test('${n}', async ({ page }) => {
  ${steps}
  await expect(page).toHaveTitle('done-${n}-7');
});`,
});
const answering = (n, answers, head = '') => ({
  [`server/${n}.mjs`]: `${head}export async function answer(path, body) {\n${answers}\n  return null;\n}\n`,
});
const shows = (n, route, value = 'answer.id') =>
  pageOf(
    n,
    `const answer = await (await fetch('${route}')).json();\ndocument.title = 'done-${n}-' + ${value};\n`,
  );

/** Files in which the change puts one text in the place of another; NUMBER is the fault's own. */
const changed = (kind, [from, to], files, still = () => ({})) => ({
  kind,
  files: (state, n) => {
    const numbered = (text) => text.replaceAll('NUMBER', String(n));
    const ofState = (text) => (state === 'is' ? text.replaceAll(numbered(from), numbered(to)) : text);
    const entries = Object.entries(files(n)).map(([file, text]) => [ofState(file), ofState(text)]);
    return { ...Object.fromEntries(entries), ...still(n) };
  },
});

const route = (name) =>
  changed(
    'route',
    [`/api/${name}`, `/api/shop-${name}`],
    (n) => answering(n, `  if (path === '/api/${name}') return { id: 7 };`),
    (n) => ({ ...shows(n, `/api/${name}`), ...spec(n) }),
  );
const property = (name) =>
  changed(
    'property',
    [`${name}:`, `${name}Details:`],
    (n) => answering(n, `  if (path === '/api/of-${name}') return { done: true, ${name}: { id: 7 } };`),
    (n) => ({ ...shows(n, `/api/of-${name}`, `answer.${name}.id`), ...spec(n) }),
  );

/** A query that stays as it was while the change of the schema renames something. */
const schema = (kind, [from, to], sql, query, value) =>
  changed(
    kind,
    [from, to],
    () => ({ 'db/NUMBER-1.sql': sql }),
    (n) => stored(n, query, value),
  );
const stored = (n, query, value) => ({
  ...answering(
    n,
    `  if (path === '/api/stored-${n}') {\n    const row = db.prepare("${query}").get();\n    return { id: ${value} };\n  }`,
    `import { migrated } from '../database.mjs';\nconst db = migrated(${n});\n`,
  ),
  ...shows(n, `/api/stored-${n}`),
  ...spec(n),
});
/** The file names of a fault have its number. */
const withNumber = ({ kind, files }) => ({
  kind,
  files: (state, n) =>
    Object.fromEntries(
      Object.entries(files(state, n)).map(([file, text]) => [file.replaceAll('NUMBER', String(n)), text]),
    ),
});

const columns = [
  schema(
    'column',
    ['unit_price', 'price_cents'],
    "create table stock (\n  title text,\n  unit_price integer\n);\ninsert into stock values ('Pen', 7);\n",
    'select title, unit_price from stock',
    'row.unit_price',
  ),
  schema(
    'column in a condition',
    ['is_open', 'is_active'],
    'create table shifts (\n  staff integer,\n  is_open integer\n);\ninsert into shifts values (7, 1);\n',
    'select staff from shifts where is_open = 1',
    'row.staff',
  ),
  schema(
    'plain column',
    ['name text', 'title text'],
    "create table books (\n  pages integer,\n  name text\n);\ninsert into books values (7, 'A');\n",
    "select pages from books where name = 'A'",
    'row.pages',
  ),
  schema(
    'table',
    ['purchases_log', 'order_log'],
    'create table purchases_log (\n  amount integer\n);\ninsert into purchases_log values (7);\n',
    'select amount from purchases_log',
    'row.amount',
  ),
  {
    kind: 'column, by a migration',
    files: (state, n) => ({
      [`db/${n}-1.sql`]:
        "create table members (mail_address text, age integer);\ninsert into members values ('a', 7);\n",
      ...(state === 'is' && {
        [`db/${n}-2.sql`]: 'alter table members rename column mail_address to email_address;\n',
      }),
      ...stored(n, "select age from members where mail_address = 'a'", 'row.age'),
    }),
  },
].map(withNumber);

const others = [
  changed(
    'route that a test asks',
    ['/api/health-check', '/api/status-check'],
    (n) => answering(n, "  if (path === '/api/health-check') return { id: 7 };"),
    (n) => ({
      [`tests/${n}.spec.ts`]: `import { test, expect } from '@playwright/test';
test('${n}', async ({ request }) => {
  const answer = await request.get('/api/health-check');
  expect((await answer.json()).id).toBe(7);
});`,
    }),
  ),
  {
    kind: 'page that a test opens',
    files: (state, n) => ({
      [`app/${state === 'was' ? 'account' : 'profile'}${n}.html`]: `<title>done-${n}-7</title>\n<h1>Your account</h1>\n<p>All about you.</p>\n`,
      ...spec(n, `await page.goto('/account${n}.html');`),
    }),
  },
  changed(
    'route that the server asks',
    ['/internal/rates', '/internal/exchange-rates'],
    (n) => ({
      [`server/${n}-rates.mjs`]: answering(n, "  if (path === '/internal/rates') return { euro: 7 };")[
        `server/${n}.mjs`
      ],
    }),
    (n) => ({
      ...answering(
        n,
        `  if (path !== '/api/rate') return null;
  const found = await fetch('http://127.0.0.1:4397/internal/rates');
  if (!found.ok) throw new Error(found.url + ' answered ' + found.status);
  return { id: (await found.json()).euro };`,
      ),
      ...shows(n, '/api/rate'),
      ...spec(n),
    }),
  ),
  changed(
    'route with a parameter',
    ['/api/items/', '/api/articles/'],
    (n) =>
      answering(n, "  if (path.startsWith('/api/items/')) return { id: Number(path.split('/').at(-1)) };"),
    (n) => ({
      ...pageOf(
        n,
        `const load = async (id) => (await fetch(\`/api/items/\${id}\`)).json();\ndocument.title = 'done-${n}-' + (await load(7)).id;\n`,
      ),
      ...spec(n),
    }),
  ),
  changed(
    'property that the server reads',
    ['amount:', 'sum:'],
    (n) =>
      pageOf(
        n,
        `const order = { amount: { cents: 7 }, currency: 'EUR' };
const answer = await (await fetch('/api/order-${n}', { method: 'POST', body: JSON.stringify(order) })).json();
document.title = 'done-${n}-' + answer.id;\n`,
      ),
    (n) => ({
      ...answering(
        n,
        `  if (path !== '/api/order-${n}') return null;\n  const order = JSON.parse(body);\n  return { id: order.amount.cents };`,
      ),
      ...spec(n),
    }),
  ),
  changed(
    'method of a module',
    ['addItem', 'put'],
    (n) => ({
      [`app/cart${n}.js`]:
        'export const cart = {\n  items: [],\n  addItem(one) {\n    this.items.push(one);\n  },\n};\n',
    }),
    (n) => ({
      ...pageOf(
        n,
        `import { cart } from './cart${n}.js';\ncart.addItem(7);\ndocument.title = 'done-${n}-' + cart.items[0];\n`,
      ),
      ...spec(n),
    }),
  ),
  changed(
    'id that a script looks for',
    ['"total-field"', '"order-total"'],
    (n) => ({
      [`app/${n}.html`]: `<body>\n<output id="total-field"></output>\n<script type="module" src="/${n}.js"></script></body>`,
    }),
    (n) => ({
      [`app/${n}.js`]: `document.getElementById('total-field').textContent = '7';\ndocument.title = 'done-${n}-7';\n`,
      ...spec(n),
    }),
  ),
];

const traps = [
  // The server stopped to send it: nothing was renamed.
  changed(
    'trap: taken away',
    [', delivered: { id: 7 }', ''],
    (n) => answering(n, "  if (path === '/api/gone') return { done: true, delivered: { id: 7 } };"),
    (n) => ({ ...shows(n, '/api/gone', 'answer.delivered.id'), ...spec(n) }),
  ),
  changed(
    'trap: taken away',
    ["  if (path === '/api/refunds') return { id: 7 };", ''],
    (n) => answering(n, "  if (path === '/api/refunds') return { id: 7 };"),
    (n) => ({ ...shows(n, '/api/refunds'), ...spec(n) }),
  ),
  changed(
    'trap: taken away beside one like it',
    ["  if (path === '/api/bookings') return { id: 7 };\n", ''],
    (n) =>
      answering(
        n,
        "  if (path === '/api/bookings') return { id: 7 };\n  if (path === '/api/bookings-open') return { id: 7 };",
      ),
    (n) => ({ ...shows(n, '/api/bookings'), ...spec(n) }),
  ),
  withNumber(
    schema(
      'trap: a column taken away beside one like it',
      ['  total_sum integer,\n', ''],
      'create table bills (\n  total_sum integer,\n  total_sum_net integer default 7\n);\ninsert into bills default values;\n',
      'select total_sum from bills',
      'row.total_sum ?? 7',
    ),
  ),
  // The query is ahead of its migration.
  {
    kind: 'trap: ahead of the schema',
    files: (state, n) => ({
      [`db/${n}-1.sql`]:
        "create table notes (remark_text text, pages integer);\ninsert into notes values ('a', 7);\n",
      ...stored(
        n,
        `select pages from notes where ${state === 'was' ? 'remark_text' : 'comment_text'} = 'a'`,
        'row.pages',
      ),
    }),
  },
  // The page was changed to a route that nobody has.
  changed(
    'trap: mistyped',
    ['/api/coupons', '/api/cuopons'],
    (n) => shows(n, '/api/coupons'),
    (n) => ({ ...answering(n, "  if (path === '/api/coupons') return { id: 7 };"), ...spec(n) }),
  ),
];

export const api = {
  together: true,
  committed: true,
  common: { ...servedFiles, 'routes.mjs': routes, 'database.mjs': database },
  faults: [
    ...['orders', 'products', 'users', 'invoices', 'carts', 'reviews'].map(route),
    ...['delivery', 'customer', 'address', 'payment', 'discount', 'voucher'].map(property),
    ...columns,
    ...others,
    ...traps,
  ],
};
