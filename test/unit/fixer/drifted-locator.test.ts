import { describe, expect, it } from 'vitest';
import type { PageElement } from '../../../src/core/evidence.js';
import { driftedLocator, type DriftEvidence } from '../../../src/fixer/drifted-locator.js';

const element = (attributes: Record<string, string>, over: Partial<PageElement> = {}): PageElement => ({
  tag: 'button',
  text: '',
  label: '',
  attributes,
  ...over,
});
const spec = '/p/tests/a.spec.ts';
const pageObject = '/p/tests/page.ts';

interface Given extends Partial<DriftEvidence> {
  /** What the app's change turned the name into; null if no change is known. */
  readonly to?: string | null;
  readonly elements?: readonly PageElement[];
  readonly aria?: string;
  readonly code?: string;
  /** The text of a page object. */
  readonly other?: string;
  readonly inApp?: boolean;
}

async function textAfter(given: Given): Promise<string[] | null> {
  const { to = 'buy', elements = [element({ 'data-testid': 'buy' })], aria = '', inApp = false } = given;
  const {
    locator = "getByTestId('pay')",
    code = `await page.${locator}.click();`,
    other = '',
    ...over
  } = given;
  const proposal = await driftedLocator({
    locator,
    isExpectation: false,
    foundSome: false,
    page: { elements, ariaSnapshot: aria },
    frames: [{ file: spec, line: 1 }],
    renamedTo: async (_, candidates) =>
      to !== null && candidates.includes(to) ? { to, file: 'page.html' } : null,
    search: async () => ({
      tests: [
        { file: spec, text: code },
        { file: pageObject, text: other },
      ],
      inApp,
    }),
    ...over,
  });
  return proposal && proposal.files.map(({ after }) => after);
}

describe('BF-2 a locator follows the app', () => {
  it.each<[string, string, Given]>([
    ['test id', "getByTestId('pay')", {}],
    ['role name', "getByRole('button', { name: 'pay' })", { aria: '- button "buy"\n- link "buy"' }],
    [
      'exact role name',
      "getByRole('link', { name: 'pay', exact: true })",
      { aria: '- link "buy":\n  - /url: /x\n- link "pay later"' },
    ],
    ['text', "getByText('pay')", { elements: [element({}, { text: 'buy' })] }],
    ['label', "getByLabel('pay')", { elements: [element({}, { label: 'buy' })] }],
    ['attribute for a label', "getByLabel('pay')", { elements: [element({ 'aria-label': 'buy' })] }],
    ['placeholder', "getByPlaceholder('pay')", { elements: [element({ placeholder: 'buy' })] }],
    [
      'name of an inner element',
      "getByRole('dialog', { name: 'Order' }).getByTestId('pay')",
      { aria: '- dialog "Order"' },
    ],
  ])('BF-2 gets the new %s', async (_, locator, given) => {
    expect(await textAfter({ locator, ...given })).toEqual([
      `await page.${locator.replace('pay', 'buy')}.click();`,
    ]);
  });

  it('BF-2 gets a new test id wherever tests use the old one, if the app does not use it any more', async () => {
    const other = "const a = p.getByTestId('pay'); const b = p.getByTestId('pay-later');";
    const here = "await page.getByTestId('buy').click();";
    expect(await textAfter({ other })).toEqual([here, other.replace("'pay'", "'buy'")]);
    expect(await textAfter({ other, inApp: true })).toEqual([here]);
  });

  it('BF-2 gets a new text at each of the failing steps, and nowhere else', async () => {
    const locator = "getByText('pay')";
    const code = `page.${locator};\npage.${locator};\npage.${locator};\n`;
    const frames = [1, 3].map((line) => ({ file: spec, line }));
    const elements = [element({}, { text: 'buy' })];
    expect(await textAfter({ locator, code, frames, elements })).toEqual([
      `page.getByText('buy');\npage.getByText('pay');\npage.getByText('buy');\n`,
    ]);
  });

  it('BF-2 gets a new name in a constant', async () => {
    const code = "const ids = { pay: 'pay' }; page.getByTestId(ids.pay).click();";
    expect(await textAfter({ code })).toEqual([code.replace("'pay'", "'buy'")]);
  });

  const text = { locator: "getByText('pay')", elements: [element({}, { text: 'buy' })] };
  it.each<[string, Given]>([
    ['no change of the app shows the new name', { to: null }],
    ['the page does not have the new name', { elements: [element({ 'data-testid': 'other' })] }],
    [
      'two elements have the new name',
      { elements: ['buy', 'buy'].map((id) => element({ 'data-testid': id })) },
    ],
    [
      'an element still has the old name',
      { elements: ['pay', 'buy'].map((id) => element({ 'data-testid': id })) },
    ],
    ['two of its names are not on the page', { locator: "getByLabel('form').getByTestId('pay')" }],
    ['the locator found its element', { foundSome: true }],
    ['the text is what the test expects', { ...text, isExpectation: true }],
    ['the test puts the name together', { code: 'page.getByTestId(`p${x}`)' }],
    ['the new name has to be escaped', { to: "o'k", elements: [element({ 'data-testid': "o'k" })] }],
    ['two constants have the name', { code: "const a = 'pay', b = 'pay';" }],
    ['the element is in a frame', { locator: "frameLocator('iframe').getByTestId('pay')" }],
    ['it finds its element in another way', { locator: "locator('#pay')" }],
  ])('BF-2 proposes nothing if %s', async (_, given) => {
    expect(await textAfter(given)).toBeNull();
  });
});
