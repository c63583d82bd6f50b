import { describe, expect, it } from 'vitest';
import { ariaYaml } from '../../../src/evidence/trace/aria-tree.js';

describe('ariaYaml', () => {
  it('EV-8 writes roles, names, states, texts and children as Playwright does', () => {
    const tree = [
      {
        role: 'main',
        box: { x: 8, y: 8, width: 304, height: 133 },
        children: [
          { role: 'heading', name: 'Basket', level: 1 },
          {
            role: 'list',
            children: [{ role: 'listitem', children: [{ role: 'link', name: 'One', url: '/x' }, 'tail'] }],
          },
          { role: 'checkbox', name: 'c', checked: true },
          { role: 'button', name: 'B', disabled: true, expanded: false },
          { role: 'textbox', name: 'Name', text: 'Ann' },
        ],
      },
    ];
    expect(ariaYaml(tree)).toBe(
      [
        '- main:',
        '  - heading "Basket" [level=1]',
        '  - list:',
        '    - listitem:',
        '      - link "One"',
        '      - text: tail',
        '  - checkbox "c" [checked]',
        '  - button "B" [disabled]',
        '  - textbox "Name": Ann',
      ].join('\n'),
    );
  });

  it('EV-11 bounds the output for an unreasonably deep or wide tree', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 5_000; level += 1) deep = { role: 'group', children: [deep] };
    expect(ariaYaml(deep).split('\n').length).toBeLessThan(100);
    const wide = {
      role: 'list',
      children: Array.from({ length: 100_000 }, () => ({ role: 'listitem', text: 'x' })),
    };
    expect(ariaYaml(wide).length).toBeLessThan(200_000);
  });

  it.each([[null], [7], [{}], [[]]])('EV-12 returns a string for what is not a tree: %j', (tree) => {
    expect(typeof ariaYaml(tree)).toBe('string');
  });
});
