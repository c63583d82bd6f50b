import { describe, expect, it } from 'vitest';
import type { PageElement } from '../../../src/core/evidence.js';
import { driftedLocator, type DriftEvidence } from '../../../src/fixer/drifted-locator.js';
import type { Renaming } from '../../../src/fixer/renamed.js';

const element = (attributes: Record<string, string>, over: Partial<PageElement> = {}): PageElement => ({
  tag: 'button',
  text: '',
  label: '',
  attributes,
  ...over,
});
const spec = '/p/tests/a.spec.ts';

function evidence(
  over: Partial<DriftEvidence> & { ids?: string[]; aria?: string; code?: string } = {},
): DriftEvidence {
  const { ids = [], aria = '', code = "await page.getByTestId('pay').click();", ...rest } = over;
  return {
    locator: "getByTestId('pay')",
    isExpectation: false,
    foundSome: false,
    page: { elements: ids.map((id) => element({ 'data-testid': id })), ariaSnapshot: aria },
    tests: [{ file: spec, text: code }],
    frames: [{ file: spec, line: 1 }],
    renaming: async () => ({ kind: 'unknown' }),
    changesAbout: async () => [],
    isInApp: async () => false,
    ...rest,
  };
}

const help = {
  locator: "getByRole('button', { name: 'Help' })",
  code: "page.getByRole('button', { name: 'Help' }).click()",
};
const becameLink = { file: 'page.html', old: ['<button>Help</button>'], now: ['<a href="/">Help</a>'] };
const save = { file: 'page.html', old: ['<b>Help</b>'], now: ['<b>Help</b><button>Save</button>'] };

const renamed = (to: string) => async (): Promise<Renaming> => ({ kind: 'renamed', to, file: 'page.html' });
const textAfter = async (given: DriftEvidence) =>
  (await driftedLocator(given))?.files.map(({ after }) => after) ?? null;

describe('BF-2 a locator follows the app', () => {
  it('BF-2 gets the new test id of its element, wherever tests use the old one', async () => {
    const page = {
      file: '/p/tests/page.ts',
      text: "const a = p.getByTestId('pay'); const b = p.getByTestId('pay-later');",
    };
    const given = evidence({ ids: ['checkout-pay', 'pay-later'], renaming: renamed('checkout-pay') });
    expect(await textAfter({ ...given, tests: [...given.tests, page] })).toEqual([
      "await page.getByTestId('checkout-pay').click();",
      "const a = p.getByTestId('checkout-pay'); const b = p.getByTestId('pay-later');",
    ]);
  });

  it('BF-2 gets the new test id where another attribute keeps the old name, but only in the failing step', async () => {
    const page = { file: '/p/tests/page.ts', text: "const a = p.getByTestId('pay');" };
    const given = evidence({
      ids: ['checkout-pay'],
      renaming: async () => ({ kind: 'renamed-in-part', to: 'checkout-pay', file: 'page.html' }),
      isInApp: async () => true,
    });
    expect(await textAfter({ ...given, tests: [...given.tests, page] })).toEqual([
      "await page.getByTestId('checkout-pay').click();",
    ]);
  });

  it.each([
    ['getByRole', "getByRole('button', { name: 'Sign in' })", 'Log in', '- button "Log in"'],
    [
      'an exact name',
      "getByRole('link', { name: 'Help', exact: true })",
      'Support',
      '- link "Support":\n  - /url: /x',
    ],
  ])('BF-2 gets the new name of its element: %s', async (_, locator, to, aria) => {
    const code = `await page.${locator}.click();`;
    const old = /name: '([^']+)'/.exec(locator)?.[1] ?? '';
    expect(await textAfter(evidence({ locator, code, aria, renaming: renamed(to) }))).toEqual([
      code.replace(old, to),
    ]);
  });

  it.each([
    ['an id', '#pay', element({ id: 'buy' })],
    ['a class', 'form .pay', element({ class: 'big buy' })],
    ['an attribute', '[name="pay"]', element({ name: 'buy' })],
  ])('BF-2 gets the new name in a selector: %s', async (_, selector, one) => {
    const locator = `locator('${selector}')`;
    const page = { elements: [one], ariaSnapshot: '' };
    const found = await textAfter(
      evidence({ locator, code: `page.${locator}.click()`, page, renaming: renamed('buy') }),
    );
    expect(found).toEqual([`page.${locator.replace('pay', 'buy')}.click()`]);
  });

  it.each([
    ['tags', ['<button class="x">Help</button>'], ['<a class="x" href="/help">Help</a>'], 'link'],
    ['tags on lines of their own', ['<button', '</button>'], ['<a href="/help"', '</a>'], 'link'],
    ['components', ['  <Button onClick={help}>Help</Button>'], ['  <Link to="/help">Help</Link>'], 'link'],
    ['calls', ["h('button', {}, 'Help')"], ["h('a', { href }, 'Help')"], 'link'],
    ['an attribute', ['<div role="button">Help</div>'], ['<div role="tab">Help</div>'], 'tab'],
  ])('BF-2 gets the new role of its element: %s', async (_, old, now, role) => {
    const code = "await page.getByRole('button', { name: 'Help' }).click(); // button";
    const given = evidence({
      locator: "getByRole('button', { name: 'Help' })",
      code,
      aria: `- ${role} "Help"\n- button "Save"`,
      renaming: async () => ({ kind: 'ambiguous' }),
      changesAbout: async () => [{ file: 'src/page.html', old, now }],
    });
    expect(await textAfter(given)).toEqual([code.replace("'button'", `'${role}'`)]);
  });

  it.each([
    ['the text of a filter', "getByRole('listitem').filter({ hasText: 'Pay' })"],
    [
      'the text of a selector',
      "locator('li').filter({ hasText: 'Pay' })",
      "locator('li', { hasText: 'Pay' })",
    ],
    ['the text engine', "locator('text=Pay')", "click('text=Pay')"],
    ['the text engine in quotes', `locator('text="Pay"')`],
    ['an XPath', `locator('//button[@title="Pay"]')`],
    ['a constant selector', `locator('[title="Pay"]')`, `const pay = '[title="Pay"]'; page.locator(pay)`],
    ['the argument of a helper', `locator('[title="Pay"]')`, "byTitle(page, 'Pay')"],
  ])('BF-2 gets the new name of its element in %s', async (_, locator, code = `page.${locator}`) => {
    const page = { elements: [element({ title: 'Buy' }, { text: 'Buy' })], ariaSnapshot: '' };
    const found = await textAfter(evidence({ locator, code, page, renaming: renamed('Buy') }));
    expect(found).toEqual([code.replace('Pay', 'Buy')]);
  });

  it('BF-2 gets the new name inside another element, although the page has the old name elsewhere', async () => {
    const code = "dialog.getByRole('button', { name: 'Yes' }).click();";
    const given = {
      locator: "getByRole('dialog').getByRole('button', { name: 'Yes' })",
      code,
      aria: '- button "Yes"\n- dialog:\n  - button "Delete"',
      renaming: renamed('Delete'),
    };
    expect(await textAfter(evidence(given))).toEqual([code.replace('Yes', 'Delete')]);
    expect(await textAfter(evidence({ ...given, foundSome: true }))).toBeNull();
  });

  it('BF-2 gets a similar test id if no change is known, in a constant too', async () => {
    const code = "const ids = { pay: 'payButton' }; page.getByTestId(ids.pay).click();";
    const given = { locator: "getByTestId('payButton')", code, ids: ['pay-button', 'cancel'] };
    expect(await textAfter(evidence(given))).toEqual([code.replace('payButton', 'pay-button')]);
  });

  it.each<[string, Parameters<typeof evidence>[0]]>([
    ['the page does not have the new name', { ids: ['other'], renaming: renamed('checkout-pay') }],
    ['the element was removed', { ids: ['pay2'], renaming: async () => ({ kind: 'removed' }) }],
    ['the app still uses the old name', { ids: ['pay-now'], isInApp: async () => true }],
    [
      'the locator found its element',
      { ids: ['pay', 'checkout-pay'], foundSome: true, renaming: renamed('checkout-pay') },
    ],
    [
      'two names are equally similar',
      {
        locator: "getByTestId('pay-button')",
        ids: ['button-pay', 'pay_button'],
        code: "page.getByTestId('pay-button')",
      },
    ],
    [
      'the tests use the similar name for another element',
      {
        locator: "getByTestId('pay-button')",
        ids: ['payButton'],
        code: "page.getByTestId('pay-button'); page.getByTestId('payButton')",
      },
    ],
    ['no name is similar enough', { ids: ['cancel'] }],
    [
      'the test puts the name together',
      { ids: ['checkout-pay'], renaming: renamed('checkout-pay'), code: 'page.getByTestId(`p${x}`)' },
    ],
    [
      'the element is in a frame',
      {
        locator: "frameLocator('iframe').getByTestId('pay')",
        ids: ['checkout-pay'],
        renaming: renamed('checkout-pay'),
      },
    ],
    [
      'no change shows why its name has another role',
      { ...help, aria: '- link "Help"', changesAbout: async () => [save] },
    ],
    [
      'two elements have its name',
      { ...help, aria: '- link "Help"\n- heading "Help"', changesAbout: async () => [becameLink] },
    ],
    [
      'its role is what the test expects',
      { ...help, aria: '- link "Help"', changesAbout: async () => [becameLink], isExpectation: true },
    ],
    [
      'the text is what the test expects',
      {
        locator: "getByText('Thanks')",
        code: "expect(page.getByText('Thanks')).toBeVisible()",
        isExpectation: true,
        page: { elements: [element({}, { text: 'Sorry' })], ariaSnapshot: '' },
        renaming: renamed('Sorry'),
      },
    ],
  ])('BF-2 proposes nothing if %s', async (_, over) => {
    expect(await driftedLocator(evidence(over))).toBeNull();
  });
});
