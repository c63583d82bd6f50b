// What the built-in fixer heals for nothing: faults of its kinds, planted into three apps of different make (pages of markup; pages that a
// script builds, with page objects; pages that read an API), and traps, where nothing was renamed and a fix would be a false heal although
// the test would pass. No agent program is there. Usage: node bench/built-in.mjs [markup] [script] [api]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { scratchProject, selfHeal } from './scratch-project.mjs';

const FALSE_HEALS = 0;
const SHARE = 0.6;

/** An element as it was, as it is, and how the test finds it; null for one that was taken away. */
const fault = (kind, locator, was, is, decoy = { tag: 'button', 'data-testid': 'other', text: 'Other' }) => ({
  kind,
  locator,
  was: { tag: 'button', ...was },
  is: is && { tag: 'button', ...is },
  decoy,
});
const id = 'data-testid';
const drifts = [
  fault('test id', "getByTestId('pay')", { [id]: 'pay', text: 'Go' }, { [id]: 'checkout-pay', text: 'Go' }),
  fault(
    'test id',
    "getByTestId('cart-count')",
    { [id]: 'cart-count', text: 'Go' },
    { [id]: 'basket-count', text: 'Go' },
  ),
  fault(
    'test id',
    "getByTestId('saveButton')",
    { [id]: 'saveButton', text: 'Go' },
    { [id]: 'save-button', text: 'Go' },
  ),
  fault(
    'test id and class',
    "getByTestId('next')",
    { [id]: 'next', class: 'small', text: 'Go' },
    { [id]: 'next-page', class: 'large', text: 'Go' },
  ),
  fault(
    'test id and text',
    "getByTestId('mail')",
    { [id]: 'mail', text: 'Send mail' },
    { [id]: 'send-mail', text: 'Send it' },
  ),
  fault('role name', "getByRole('button', { name: 'Sign in' })", { text: 'Sign in' }, { text: 'Log in' }),
  fault(
    'role name',
    "getByRole('button', { name: 'Delete draft' })",
    { text: 'Delete draft' },
    { text: 'Discard draft' },
  ),
  fault(
    'role name',
    "getByRole('link', { name: 'Terms' })",
    { tag: 'a', href: '#', text: 'Terms' },
    { tag: 'a', href: '#', text: 'Conditions' },
  ),
  fault(
    'exact role name',
    "getByRole('button', { name: 'Pay', exact: true })",
    { text: 'Pay' },
    { text: 'Pay now' },
  ),
  fault('text', "getByText('Show more')", { text: 'Show more' }, { text: 'Load further' }),
  fault(
    'label',
    "getByLabel('Close dialog')",
    { 'aria-label': 'Close dialog', text: 'x' },
    { 'aria-label': 'Dismiss', text: 'x' },
  ),
  fault(
    'title',
    "getByTitle('Refresh list')",
    { title: 'Refresh list', text: 'x' },
    { title: 'Reload', text: 'x' },
  ),
  fault(
    'id',
    "locator('#submit-order')",
    { id: 'submit-order', text: 'Go' },
    { id: 'place-order', text: 'Go' },
  ),
  fault(
    'class',
    "locator('.btn-primary')",
    { class: 'btn-primary', text: 'Go' },
    { class: 'button-main', text: 'Go' },
  ),
  fault(
    'attribute',
    `locator('[name="agree"]')`,
    { name: 'agree', text: 'Go' },
    { name: 'accept', text: 'Go' },
  ),
  fault(
    'placeholder',
    "getByPlaceholder('Find a product')",
    { tag: 'input', placeholder: 'Find a product' },
    { tag: 'input', placeholder: 'Search the shop' },
  ),
  fault(
    'role',
    "getByRole('button', { name: 'Details' })",
    { text: 'Details' },
    { tag: 'a', href: '#', text: 'Details' },
  ),
];
/** Its test would pass with the decoy. */
const passes = (attributes) => ({ tag: 'button', ...attributes, passes: true });
const traps = [
  fault(
    'trap: taken away',
    "getByTestId('delete-draft')",
    { [id]: 'delete-draft', text: 'Go' },
    null,
    passes({ [id]: 'delete-drafts', text: 'All' }),
  ),
  fault(
    'trap: taken away',
    "getByTestId('order-total')",
    { [id]: 'order-total', text: 'Go' },
    null,
    passes({ [id]: 'order-total-tax', text: 'Tax' }),
  ),
  fault(
    'trap: taken away',
    "getByRole('button', { name: 'Remove' })",
    { text: 'Remove' },
    null,
    passes({ text: 'Re-move' }),
  ),
  fault(
    'trap: taken away',
    "locator('#confirm-pay')",
    { id: 'confirm-pay', text: 'Go' },
    null,
    passes({ id: 'confirm_pay_later', text: 'Later' }),
  ),
];

const locatorFaults = [...drifts, ...traps];

function page(n, element, decoy, write) {
  const done = `document.title='done-${n}'`;
  const shown = [
    ...(element ? [write(element, done)] : []),
    write(decoy, decoy.passes ? done : "document.title='wrong'"),
  ];
  return shown.join('\n');
}

/** The attributes, without what only this program asks. */
const named = (attributes) => Object.entries(attributes).filter(([name]) => name !== 'passes');

function markup({ tag, text = '', ...attributes }, does) {
  const written = named(attributes).map(([name, value]) => ` ${name}="${value}"`);
  return `<${tag}${written.join('')} onclick="${does}">${tag === 'input' ? '' : `${text}</${tag}>`}`;
}

function script({ tag, text = '', ...attributes }, does) {
  const written = named(attributes).map(([name, value]) => `'${name}': '${value}'`);
  return `show('${tag}', { ${[...written, `onclick: "${does}"`].join(', ')} }, '${text}');`;
}

const browser = process.env.SELF_HEAL_CHROMIUM;
const config = (server) => `
import { defineConfig } from '@playwright/test';
export default defineConfig({
  testDir: 'tests', workers: 2, fullyParallel: true, reporter: 'dot', timeout: 30_000,
  expect: { timeout: 5000 }, use: { baseURL: 'http://127.0.0.1:4397', actionTimeout: 5000, launchOptions: { ${browser ? `executablePath: '${browser}', ` : ''}args: ['--no-sandbox'] } },
  webServer: ${server},
});`;
const serve = `
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { routes } from './routes.mjs';
createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://x');
  const answer = routes(pathname);
  if (answer) return response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  if (/^\\/api\\//.test(pathname)) return response.writeHead(404).end();
  const file = pathname === '/' ? '/index.html' : pathname;
  try {
    response.setHeader('content-type', file.endsWith('js') ? 'text/javascript' : 'text/html').end(readFileSync('app' + file));
  } catch { response.writeHead(404).end(); }
}).listen(4397, '127.0.0.1');`;
const common = {
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts': config(
    "{ command: 'node server.mjs', url: 'http://127.0.0.1:4397/', stdout: 'ignore' }",
  ),
  'server.mjs': serve,
  'routes.mjs': 'export const routes = () => null;\n',
  'app/index.html': 'here',
};

const acts = ({ locator }) => `${locator}.click()`;

/** Pages of markup, and tests that say their locators themselves. */
function markupApp(state) {
  const files = locatorFaults.flatMap((one, n) => [
    [`app/${n}.html`, page(n, one[state], one.decoy, markup)],
    [
      `tests/${n}.spec.ts`,
      `import { test, expect } from '@playwright/test';
test('${n}', async ({ page }) => {
  await page.goto('/${n}.html');
  await page.${acts(one)};
  await expect(page).toHaveTitle('done-${n}');
});`,
    ],
  ]);
  return {
    files: { ...common, ...Object.fromEntries(files) },
    kinds: locatorFaults.map(({ kind }) => kind),
    commit: false,
  };
}

/** Pages that a script builds, and page objects; the change is a commit, behind others. */
function scriptApp(state) {
  const helper = `export function show(tag, attributes, text) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  document.body.append(element);
}`;
  const files = locatorFaults.flatMap((one, n) => [
    [`app/${n}.html`, `<body><script type="module" src="/${n}.js"></script></body>`],
    [`app/${n}.js`, `import { show } from './show.js';\n${page(n, one[state], one.decoy, script)}\n`],
    [
      `tests/pages/page${n}.ts`,
      `import type { Page } from '@playwright/test';
export class Page${n} {
  constructor(private readonly page: Page) {}
  readonly element = () => this.page.${one.locator};
  async open() { await this.page.goto('/${n}.html'); }
  async act() { await this.element().click(); }
}`,
    ],
    [
      `tests/${n}.spec.ts`,
      `import { test, expect } from '@playwright/test';
import { Page${n} } from './pages/page${n}';
test('${n}', async ({ page }) => {
  const shop = new Page${n}(page);
  await shop.open();
  await shop.act();
  await expect(page).toHaveTitle('done-${n}');
});`,
    ],
  ]);
  const all = { ...common, 'app/show.js': helper, ...Object.fromEntries(files) };
  return { files: all, kinds: locatorFaults.map(({ kind }) => kind), commit: true };
}

const apiFaults = [
  ...['orders', 'products', 'users', 'invoices', 'carts', 'reviews'].map((name) => ({
    kind: 'route',
    was: `/api/${name}`,
    is: `/api/shop-${name}`,
    read: 'id',
    reads: '',
    field: 'id',
  })),
  ...['delivery', 'customer', 'address', 'payment', 'discount', 'voucher'].map((name) => ({
    kind: 'property',
    was: `/api/of-${name}`,
    is: `/api/of-${name}`,
    reads: name,
    field: `${name}Details`,
  })),
  // The server stopped to send it: nothing was renamed.
  { kind: 'trap: taken away', was: '/api/gone', is: '/api/gone', reads: 'delivered', field: null },
  { kind: 'trap: taken away', was: '/api/refunds', is: null, read: 'id', reads: '', field: 'id' },
];

/** Pages that read an API whose routes and properties were renamed. */
function apiApp(state) {
  const answers = apiFaults.flatMap((one) => {
    const route = one[state];
    if (route === null) return [];
    const field = state === 'was' && one.reads ? one.reads : one.field;
    return [
      `  if (path === '${route}') return { done: true${field === null ? '' : `, ${field}: { id: 7 }`} };`,
    ];
  });
  const files = apiFaults.flatMap((one, n) => [
    [`app/${n}.html`, `<body><script type="module" src="/${n}.js"></script></body>`],
    [
      `app/${n}.js`,
      `const answer = await fetch('${one.was}');\nconst order = await answer.json();\ndocument.title = 'done-${n}-' + order.${one.reads ? `${one.reads}.id` : 'id.id'};\n`,
    ],
    [
      `tests/${n}.spec.ts`,
      `import { test, expect } from '@playwright/test';
test('${n}', async ({ page }) => {
  await page.goto('/${n}.html');
  await expect(page).toHaveTitle('done-${n}-7');
});`,
    ],
  ]);
  const routes = `export function routes(path) {\n${answers.join('\n')}\n  return null;\n}\n`;
  return {
    files: { ...common, ...Object.fromEntries(files), 'routes.mjs': routes },
    kinds: apiFaults.map(({ kind }) => kind),
    commit: true,
  };
}

const apps = { markup: markupApp, script: scriptApp, api: apiApp };
const asked = process.argv.slice(2);
const sums = { faults: 0, healed: 0, traps: 0, falseHeals: 0, tried: 0, reverted: 0 };
for (const [name, app] of Object.entries(apps))
  if (asked.length === 0 || asked.includes(name)) measure(name, app);

const share = sums.healed / sums.faults;
console.log(
  `healed for nothing: ${sums.healed} of ${sums.faults} (${Math.round(share * 100)} %; aim ${SHARE * 100} %)`,
);
console.log(`false heals: ${sums.falseHeals} of ${sums.traps} traps (at most ${FALSE_HEALS})`);
console.log(`proposals: ${sums.tried}, taken back: ${sums.reverted}; load ${loadavg()[0].toFixed(1)}`);
process.exitCode = share < SHARE || sums.falseHeals > FALSE_HEALS ? 1 : 0;

function measure(name, app) {
  const before = app('was');
  const project = scratchProject({
    ...before.files,
    'agents.yaml': 'verify: { level: quick }\nlimits: { escalations: 100 }\n',
  });
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.test', ...args], {
      cwd: project.dir,
    });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'The app');
  for (const [file, text] of Object.entries(app('is').files))
    writeFileSync(path.join(project.dir, file), text);
  if (before.commit) git('commit', '--quiet', '--all', '-m', 'A change');
  const started = performance.now();
  spawnSync(process.execPath, [selfHeal, 'run'], {
    cwd: project.dir,
    env: { ...process.env, PATH: programs() },
    stdio: ['ignore', 'ignore', process.argv.includes('--loud') ? 'inherit' : 'ignore'],
  });
  const report = JSON.parse(
    readFileSync(path.join(project.dir, '.self-heal', 'latest', 'report.json'), 'utf8'),
  );
  for (const { title, verdict } of report.tests) {
    const kind = before.kinds[Number(title.at(-1))];
    const healed = verdict === 'healed';
    if (kind.startsWith('trap')) {
      sums.traps += 1;
      sums.falseHeals += healed ? 1 : 0;
    } else {
      sums.faults += 1;
      sums.healed += healed ? 1 : 0;
    }
    if (healed === kind.startsWith('trap')) console.log(`  ${name} ${title.at(-1)} (${kind}): ${verdict}`);
  }
  const attempts = report.causes.flatMap((cause) => cause.attempts);
  sums.tried += attempts.length;
  sums.reverted += attempts.filter(({ reverted }) => reverted).length;
  console.log(
    `${name}: ${Math.round((performance.now() - started) / 1000)} s, ${report.totals.playwrightRuns} Playwright runs`,
  );
  project.remove();
}

/** A PATH with Node and git, and no agent program. */
function programs() {
  const bin = mkdtempSync(path.join(tmpdir(), 'self-heal-bench-bin-'));
  symlinkSync(process.execPath, path.join(bin, 'node'));
  const git = process.env.PATH.split(path.delimiter).find(
    (folder) => spawnSync(path.join(folder, 'git'), ['--version']).status === 0,
  );
  symlinkSync(path.join(git, 'git'), path.join(bin, 'git'));
  return `${bin}:/bin`;
}
