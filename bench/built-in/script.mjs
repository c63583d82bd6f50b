// Pages that a script builds; page objects, fixtures and constants say the locators. The change is a commit, behind others.
import { driftsWith } from './drifts.mjs';
import { servedFiles } from './served.mjs';

const show = `export function show(tag, attributes, text) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  document.body.append(element);
}`;

const write = ({ tag, text, attributes }, does) => {
  const written = attributes.map(([name, value]) => `'${name}': '${value}'`);
  return `show('${tag}', { ${[...written, `onclick: "${does}"`].join(', ')} }, '${text}');`;
};

const scriptPage = (n, script) => ({
  [`app/${n}.html`]: `<body><script type="module" src="/${n}.js"></script></body>`,
  [`app/${n}.js`]: `import { show } from './show.js';\n${script}\n`,
});

const pageObject = (n, locator, script) => ({
  ...scriptPage(n, script),
  [`tests/pages/page${n}.ts`]: `import type { Page } from '@playwright/test';
export class Page${n} {
  constructor(private readonly page: Page) {}
  readonly element = () => this.page.${locator};
  async open() { await this.page.goto('/${n}.html'); }
  async act() { await this.element().click(); }
}`,
  [`tests/${n}.spec.ts`]: `import { test, expect } from '@playwright/test';
import { Page${n} } from './pages/page${n}';
test('${n}', async ({ page }) => {
  const shop = new Page${n}(page);
  await shop.open();
  await shop.act();
  await expect(page).toHaveTitle('done-${n}');
});`,
});

/** A script of its own, and tests in files of their own: DONE does what the test expects, WRONG something else, N is its number. */
const own = (kind, script, [from, to], tests, more = {}) => ({
  kind,
  files: (state, n) => {
    const filled = (text) =>
      text
        .replaceAll('DONE', `onclick: "document.title='done-${n}'", oninput: "document.title='done-${n}'"`)
        .replaceAll('WRONG', `onclick: "document.title='wrong'", oninput: "document.title='wrong'"`)
        .replaceAll('NUMBER', String(n));
    const ofState = (text) => (state === 'is' ? text.replaceAll(from, to) : text);
    const numbered = (files, map) =>
      Object.entries(files).map(([file, text]) => [file.replaceAll('NUMBER', String(n)), filled(map(text))]);
    return {
      ...scriptPage(n, filled(ofState(script))),
      ...Object.fromEntries(numbered(more, ofState)),
      ...Object.fromEntries(numbered(tests, (text) => text)),
    };
  },
});

const expectDone = "await expect(page).toHaveTitle('done-NUMBER');";
const spec = (steps, head = '') => ({
  'tests/NUMBER.spec.ts': `import { test, expect } from '@playwright/test';
${head}test('NUMBER', async ({ page }) => {
  await page.goto('/NUMBER.html');
  ${steps}
  ${expectDone}
});`,
});

const faults = [
  own(
    'test id in a fixture',
    "show('button', { 'data-testid': 'pay-now', DONE }, 'Go');\nshow('button', { 'data-testid': 'back', WRONG }, 'Back');",
    ['pay-now', 'purchase'],
    {
      'tests/fixtures/shopNUMBER.ts': `import { test as base, type Locator } from '@playwright/test';
export { expect } from '@playwright/test';
export const test = base.extend<{ pay: Locator }>({
  pay: async ({ page }, use) => {
    await page.goto('/NUMBER.html');
    await use(page.getByTestId('pay-now'));
  },
});`,
      'tests/NUMBER.spec.ts': `import { expect, test } from './fixtures/shopNUMBER';
test('NUMBER', async ({ page, pay }) => {
  await pay.click();
  ${expectDone}
});`,
    },
  ),
  own(
    'property of a page object',
    "show('button', { DONE }, 'Place order');\nshow('button', { WRONG }, 'Leave');",
    ['Place order', 'Buy now'],
    {
      'tests/pages/orderNUMBER.ts': `import type { Locator, Page } from '@playwright/test';
export class OrderPage {
  readonly place: Locator;
  constructor(page: Page) {
    this.place = page.getByRole('button', { name: 'Place order' });
  }
}`,
      ...spec(
        'await new OrderPage(page).place.click();',
        "import { OrderPage } from './pages/orderNUMBER';\n",
      ),
    },
  ),
  own(
    'label in a list of labels',
    "show('input', { 'aria-label': 'E-mail', DONE }, '');\nshow('input', { 'aria-label': 'Phone', WRONG }, '');",
    ['E-mail', 'Your address'],
    {
      'tests/labelsNUMBER.ts': "export const labels = { mail: 'E-mail', phone: 'Phone' };\n",
      ...spec(
        "await page.getByLabel(labels.mail).fill('a@b.c');",
        "import { labels } from './labelsNUMBER';\n",
      ),
    },
  ),
  own(
    'text of a locale',
    "const texts = await (await fetch('/localeNUMBER.json')).json();\nshow('button', { DONE }, texts.signIn);\nshow('button', { WRONG }, texts.help);",
    ['"Sign in"', '"Log in"'],
    spec("await page.getByRole('button', { name: 'Sign in' }).click();"),
    { 'app/localeNUMBER.json': '{\n  "signIn": "Sign in",\n  "help": "Help"\n}\n' },
  ),
  own(
    'text of a component',
    "const button = ({ label }) => show('button', { DONE }, label);\nbutton({ label: 'Save changes' });",
    ["'Save changes'", "'Store changes'"],
    spec("await page.getByRole('button', { name: 'Save changes' }).click();"),
  ),
];

const traps = [
  own(
    'trap: a text that got lost',
    "const texts = await (await fetch('/localeNUMBER.json')).json();\nshow('button', { DONE }, texts['checkout.start'] ?? 'checkout.start');",
    ['"checkout.start"', '"checkout.begin"'],
    spec("await page.getByRole('button', { name: 'Start the checkout' }).click();"),
    { 'app/localeNUMBER.json': '{\n  "checkout.start": "Start the checkout"\n}\n' },
  ),
  own(
    'trap: taken away',
    "show('button', { DONE }, 'Print invoice');\nshow('button', { DONE }, 'Print invoice list');",
    ["show('button', { DONE }, 'Print invoice');\n", ''],
    spec("await page.getByRole('button', { name: 'Print invoice', exact: true }).click();"),
  ),
];

export const script = {
  together: true,
  committed: true,
  common: { ...servedFiles, 'app/show.js': show },
  faults: [...driftsWith(write, pageObject), ...faults, ...traps],
};
