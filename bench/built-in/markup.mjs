// Pages of markup, and tests that say their locators themselves. What changed is not committed.
import { driftsWith } from './drifts.mjs';
import { servedFiles } from './served.mjs';

const spec = (n, steps, head = '') => `import { test, expect } from '@playwright/test';
${head}test('${n}', async ({ page }) => {
  await page.goto('/${n}.html');
  ${steps}
  await expect(page).toHaveTitle('done-${n}');
});`;

const write = ({ tag, text, attributes }, does) =>
  `<${tag}${attributes.map(([name, value]) => ` ${name}="${value}"`).join('')} onclick="${does}">${tag === 'input' ? '' : `${text}</${tag}>`}`;

/** A page of its own markup: DONE does what the test expects, WRONG something else. */
const own = (kind, steps, pages, more) => ({
  kind,
  files: (state, n) => ({
    [`app/${n}.html`]: pages[state]
      .replaceAll('DONE', `document.title='done-${n}'`)
      .replaceAll('WRONG', "document.title='wrong'"),
    [`tests/${n}.spec.ts`]: spec(n, steps, more?.head(n)),
    ...more?.files(n),
  }),
});
/** The same page, with one text in the place of another. */
const renamed = (page, from, to) => ({ was: page, is: page.replaceAll(from, to) });

const faults = [
  own(
    'label of a field',
    "await page.getByLabel('Your name').fill('Ann');",
    renamed(
      '<label for="who">Your name</label><input id="who" oninput="DONE">\n<label for="city">City</label><input id="city" oninput="WRONG">',
      'Your name',
      'Full name',
    ),
  ),
  own(
    'heading',
    "await page.getByRole('heading', { name: 'Billing' }).click();",
    renamed('<h1>Account</h1>\n<h2 onclick="DONE">Billing</h2>', 'Billing', 'Payment methods'),
  ),
  own(
    'inner of two locators',
    "await page.getByRole('region', { name: 'Basket' }).getByRole('button', { name: 'Empty' }).click();",
    renamed(
      '<section aria-label="Basket">\n<button onclick="DONE">Empty</button>\n</section>\n<button onclick="WRONG">Close</button>',
      'Empty',
      'Clear all',
    ),
  ),
  own(
    'outer of two locators',
    "await page.getByRole('region', { name: 'Basket' }).getByTestId('go').click();",
    renamed(
      '<section aria-label="Basket">\n<button data-testid="go" onclick="DONE">Go</button>\n</section>\n<section aria-label="Wishes"><button data-testid="go" onclick="WRONG">Go</button></section>',
      'Basket',
      'Your order',
    ),
  ),
  own(
    'test id of a list of ids',
    'await page.getByTestId(ids.pay).click();',
    renamed('<button data-testid="pay-btn" onclick="DONE">Go</button>', 'pay-btn', 'pay-button-main'),
    {
      head: (n) => `import { ids } from './ids${n}';\n`,
      files: (n) => ({ [`tests/ids${n}.ts`]: "export const ids = { pay: 'pay-btn', cart: 'cart-link' };\n" }),
    },
  ),
  own(
    'test id in two steps',
    "await page.getByTestId('qty').fill('2');\n  await page.getByTestId('qty').press('Enter');",
    renamed('<input data-testid="qty" onkeydown="DONE">', 'qty', 'quantity-field'),
  ),
];

const traps = [
  own('trap: taken away', "await page.getByTestId('export-csv').click();", {
    was: '<button data-testid="export-csv" onclick="DONE">CSV</button>\n<button data-testid="export-pdf" onclick="DONE">PDF</button>',
    is: '<button data-testid="export-pdf" onclick="DONE">PDF</button>',
  }),
  own(
    'trap: a wrong sum',
    "await page.getByText('Order total: 12.00 EUR').click();",
    renamed(
      `<p id="sum" onclick="DONE"></p>
<script>
document.getElementById('sum').textContent = 'Order total: ' + (10 + 2).toFixed(2) + ' EUR';
</script>`,
      '(10 + 2)',
      '(10 * 2)',
    ),
  ),
  own('trap: two that fit', "await page.getByTestId('save').click();", {
    was: '<button data-testid="save" onclick="DONE">Save</button>',
    is: '<button data-testid="save-draft" onclick="DONE">Save</button>\n<button data-testid="save-copy" onclick="DONE">Save</button>',
  }),
  own('trap: exchanged by mistake', "await page.getByRole('button', { name: 'Accept' }).click();", {
    was: '<button onclick="DONE">Accept</button>\n<button onclick="WRONG">Decline</button>',
    is: '<button onclick="DONE">Decline</button>\n<button onclick="WRONG">Accept</button>',
  }),
];

export const markup = {
  together: true,
  committed: false,
  common: servedFiles,
  faults: [
    ...driftsWith(write, (n, locator, page) => ({
      [`app/${n}.html`]: page,
      [`tests/${n}.spec.ts`]: spec(n, `await page.${locator}.click();`),
    })),
    ...faults,
    ...traps,
  ],
};
