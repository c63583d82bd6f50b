import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { followedExpectations } from '../../../src/fixer/followed-expectations.js';
import { aCause, aDiagnosed, anError, aTestFailure } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

/** Returns what a test's second line becomes after it failed with these messages, as Playwright 1.57 prints them; null if nothing is certain. */
async function followed(line: string, ...messages: string[]): Promise<string | null> {
  const file = path.join(tempDir(), 'a.spec.ts');
  writeFileSync(file, `// A test.\n${line}\n`);
  const errors = messages.map((message) => anError(message, { location: { file, line: 2, column: 1 } }));
  const lead = aDiagnosed({ failure: aTestFailure({ errors }) });
  const proposal = await followedExpectations(aCause({ lead }));
  expect(proposal === null || proposal.files.length === 1).toBe(true);
  return proposal?.files[0]?.after.split('\n').slice(1, -1).join('\n') ?? null;
}

const failed = (matcher: string, told: string) =>
  `Error: expect(locator).${matcher}(expected) failed\n\n${told}\n\nCall log:\n  - waiting for getByTestId('b')\n`;
const values = (expected: string, received: string) =>
  `Locator:  getByTestId('b')\nExpected: ${expected}\nReceived: ${received}\nTimeout:  700ms`;

it.each([
  [
    "await expect(b).toHaveText('$3.00');",
    'toHaveText',
    values('"$3.00"', '"3,00 €"'),
    "await expect(b).toHaveText('3,00 €');",
  ],
  [
    'await expect(b).toHaveText("Buy");',
    'toHaveText',
    values('"Buy"', '"Say \\"yes\\""'),
    'await expect(b).toHaveText("Say \\"yes\\"");',
  ],
  [
    'await expect(b).toHaveText(`Its`);',
    'toHaveText',
    values('"Its"', '"It\'s ${1}"'),
    "await expect(b).toHaveText(`It's \\${1}`);",
  ],
  ['await expect(b).toHaveCount(2);', 'toHaveCount', values('2', '3'), 'await expect(b).toHaveCount(3);'],
  [
    "await expect(b).toHaveAttribute('href', '/basket');",
    'toHaveAttribute',
    values('"/basket"', '"/cart"'),
    "await expect(b).toHaveAttribute('href', '/cart');",
  ],
  [
    "await expect(page).toHaveURL('/basket');",
    'toHaveURL',
    values('"http://shop.test/basket"', '"http://shop.test/cart"'),
    "await expect(page).toHaveURL('/cart');",
  ],
  [
    "await expect(b).toContainText('Your basket');",
    'toContainText',
    'Expected substring: "Your basket"\nReceived string:    "  Nothing  here "',
    "await expect(b).toContainText('Nothing here');",
  ],
  [
    "await expect(b).toHaveText('Your basket is empty');",
    'toHaveText',
    'Timeout: 700ms\n\n- Expected  - 1\n+ Received  + 4\n\n- Your basket is empty\n+\n+      Nothing in\n+      here yet\n+   ',
    "await expect(b).toHaveText('Nothing in here yet');",
  ],
  [
    "await expect(li).toHaveText(['Tea', 'Coffee']);",
    'toHaveText',
    '- Expected  - 1\n+ Received  + 2\n\n  Array [\n+   "Coffee",\n    "Tea",\n-   "Coffee",\n+   "Milk",\n  ]',
    "await expect(li).toHaveText(['Coffee', 'Tea', 'Milk']);",
  ],
  [
    'await expect(ol).toMatchAriaSnapshot(`\n  - list:\n    - listitem: Tea\n    - listitem: Coffee\n`);',
    'toMatchAriaSnapshot',
    '- Expected  - 1\n+ Received  + 1\n\n  - list:\n+   - listitem: Coffee\n    - listitem: Tea\n-   - listitem: Coffee',
    'await expect(ol).toMatchAriaSnapshot(`\n  - list:\n    - listitem: Coffee\n    - listitem: Tea\n`);',
  ],
])('BL-6 the tests may follow the page: %s', async (line, matcher, told, after) => {
  expect(await followed(line, failed(matcher, told))).toBe(after);
});

it.each([
  ['no literal', 'await expect(b).toHaveText(price);', values('"$3.00"', '"3,00 €"')],
  ['another literal', "await expect(b).toHaveText('free');", values('"$3.00"', '"3,00 €"')],
  ['two of them', "await expect(b).toHaveText('a'); await expect(c).toHaveText('a');", values('"a"', '"b"')],
  ['a negation', "await expect(b).not.toHaveText('a');", values('"a"', '"b"')],
  ['nothing there', "await expect(b).toHaveText('a');", 'Expected: "a"\nError: element(s) not found'],
  ['a pattern', 'await expect(b).toHaveText(/a/);', values('/a/', '"b"')],
  [
    'a long list',
    "await expect(b).toHaveText(['a']);",
    '- Expected  - 1\n+ Received  + 1\n\n@@ -1,2 +1,2 @@\n  Array [\n-   "a",\n+   "b",\n  ]',
  ],
  ['code that does not parse', "await expect(b.toHaveText('a');", values('"a"', '"b"')],
])('BL-6 the tests do not follow the page where more than a literal differs: %s', async (_, line, told) => {
  expect(await followed(line, failed('toHaveText', told))).toBeNull();
});

it('BL-6 the tests do not follow the page if another error, or another page, says something else', async () => {
  const line = "await expect(b).toHaveText('a');";
  const told = failed('toHaveText', values('"a"', '"b"'));
  expect(await followed(line, told, told)).toBe("await expect(b).toHaveText('b');");
  expect(await followed(line, told, 'Error: boom')).toBeNull();
  expect(await followed(line, told, failed('toHaveText', values('"a"', '"c"')))).toBeNull();
});
