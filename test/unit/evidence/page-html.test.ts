import { expect, it } from 'vitest';
import type { DomElement } from '../../../src/evidence/trace/dom.js';
import { pageHtml } from '../../../src/evidence/trace/write-trace-files.js';

const element = (
  tag: string,
  attributes: Record<string, string> = {},
  ...children: DomElement['children']
) => ({
  tag,
  attributes,
  children,
});

it('EV-13 shows a page with one element a line, what was typed into it, and shadow roots', () => {
  const root = element(
    'body',
    {},
    element('input', { value: 'old', __playwright_value_: 'new', __playwright_target__: 'x' }),
    element('input', { type: 'checkbox', __playwright_checked_: 'true' }),
    element(
      'x-basket',
      {},
      element('template', { __playwright_shadow_root_: 'open' }, element('p', {}, ' 1 <  2 ')),
    ),
  );
  expect(pageHtml(root, 1_000).split('\n')).toEqual([
    '<body>',
    ' <input value="new">',
    ' <input type="checkbox" checked>',
    ' <x-basket>',
    '  <shadow-root>',
    '   <p>1 &lt; 2</p>',
    '  </shadow-root>',
    ' </x-basket>',
    '</body>',
  ]);
});

it('EV-9 leaves out what is typed into password fields', () => {
  const root = element('input', { type: 'password', value: 'first', __playwright_value_: 'second' });
  expect(pageHtml(root, 1_000)).toBe('<input type="password">');
});

it('EV-11 cuts a page that is too long, and leaves out the data of pictures', () => {
  const picture = element('img', { src: `data:image/png;base64,${'A'.repeat(5_000)}` });
  expect(pageHtml(picture, 1_000)).toMatch(/^<img src="… \d+ characters">$/);
  const long = element('p', {}, ...Array.from({ length: 100 }, () => element('b', {}, 'word')));
  const text = pageHtml(long, 200);
  expect(text.length).toBeLessThan(260);
  expect(text).toMatch(/was cut -->$/);
});
