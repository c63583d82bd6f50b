// Elements that a change called otherwise, as data: both the pages of markup and those of a script have them.

/** A fault: its kind, and the files that it consists of, before (`was`) and after (`is`) the change; `n` numbers it in its app. */
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
    'placeholder',
    "getByPlaceholder('Find a product')",
    { tag: 'input', placeholder: 'Find a product' },
    { tag: 'input', placeholder: 'Search the shop' },
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
];

const all = [...drifts, ...traps];

/** These faults with the files that `filesOf` makes of each: the page as `write` writes it, in a state. */
export function driftsWith(write, filesOf) {
  return all.map((one) => ({
    kind: one.kind,
    files: (state, n) => filesOf(n, one.locator, page(n, one[state], one.decoy, write)),
  }));
}

function page(n, element, decoy, write) {
  const done = `document.title='done-${n}'`;
  const shown = [
    ...(element ? [write(named(element), done)] : []),
    write(named(decoy), decoy.passes ? done : "document.title='wrong'"),
  ];
  return shown.join('\n');
}

/** Without what only this program asks. */
function named({ tag, text = '', ...attributes }) {
  return { tag, text, attributes: Object.entries(attributes).filter(([name]) => name !== 'passes') };
}
