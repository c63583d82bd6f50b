import { expect, it } from 'vitest';
import { ariaLineOf } from '../../../src/evidence/aria-line.js';

it.each([
  ['- button "Pay" [disabled]', { role: 'button', name: 'Pay', text: '' }],
  ['  - link "Help":', { role: 'link', name: 'Help', text: '' }],
  [`- 'heading "It''s: \\"new\\"" [level=1]'`, { role: 'heading', name: 'It\'s: "new"', text: '' }],
  ['- paragraph: "a: b"', { role: 'paragraph', name: '', text: 'a: b' }],
  ['    - /placeholder: Search', { role: '/placeholder', name: '', text: 'Search' }],
  ['no element', null],
])('EV-8 reads a line of an accessibility snapshot: %s', (line, node) => {
  expect(ariaLineOf(line)).toEqual(node);
});
