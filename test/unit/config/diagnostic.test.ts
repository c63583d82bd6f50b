import { describe, expect, it } from 'vitest';
import { renderDiagnostic, renderDiagnostics } from '../../../src/config/diagnostic.js';

function mark(text: string, fault: string): string {
  const start = text.indexOf(fault);
  return renderDiagnostic({ name: 'a.yaml', text }, { start, end: start + fault.length, message: 'wrong' });
}

describe('CF-3 how a mistake is shown', () => {
  it.each([
    ['the first line', 'bad: 1\nok: 2\n', 'bad', ['a.yaml:1:1 wrong', '    bad: 1', '    ~~~']],
    ['a later line', 'ok: 1\n  bad: 2\n', 'bad', ['a.yaml:2:3 wrong', '      bad: 2', '      ~~~']],
    [
      'the last line without an end',
      'ok: 1\nx: bad',
      'bad',
      ['a.yaml:2:4 wrong', '    x: bad', '       ~~~'],
    ],
    ['CRLF line ends', 'ok: 1\r\nx: bad\r\n', 'bad', ['a.yaml:2:4 wrong', '    x: bad', '       ~~~']],
    [
      'the first line of many',
      'x: [a,\n  b]\n',
      '[a,\n  b]',
      ['a.yaml:1:4 wrong', '    x: [a,', '       ~~~'],
    ],
    ['behind a tab', 'x:\tbad\n', 'bad', ['a.yaml:1:4 wrong', '    x:\tbad', '      \t~~~']],
    ['behind wide characters', '漢字: bad', 'bad', ['a.yaml:1:5 wrong', '    漢字: bad', '          ~~~']],
    ['wide characters', 'x: 漢字 y', '漢字', ['a.yaml:1:4 wrong', '    x: 漢字 y', '       ~~~~']],
    [
      'behind combined characters',
      'e\u0301: bad',
      'bad',
      ['a.yaml:1:5 wrong', '    e\u0301: bad', '       ~~~'],
    ],
    ['behind an emoji of several', '👩‍👩‍👧: bad', 'bad', ['a.yaml:1:11 wrong', '    👩‍👩‍👧: bad', '        ~~~']],
  ])('CF-3 marks %s', (_, text, fault, lines) => {
    expect(mark(text, fault).split('\n')).toEqual(lines);
  });

  it('CF-3 shows a fault at the end of the file behind the last line with something on it', () => {
    const text = 'x: [1\n\n\n';
    const shown = renderDiagnostic({ name: 'a.yaml', text }, { start: 8, end: 9, message: 'wrong' });
    expect(shown).toBe('a.yaml:1:6 wrong\n    x: [1\n         ~');
  });

  it('CF-3 shows a fault in an empty file', () => {
    expect(renderDiagnostic({ name: 'a.yaml', text: '' }, { start: 0, end: 1, message: 'wrong' })).toBe(
      'a.yaml:1:1 wrong\n    \n    ~',
    );
  });

  it('CF-3 cuts a long line around the fault, and the marker stays under it', () => {
    const [head, line = '', marker = ''] = mark(`${'x'.repeat(500)}bad${'y'.repeat(500)}`, 'bad').split('\n');
    expect(head).toBe('a.yaml:1:501 wrong');
    expect(line.length).toBeLessThan(120);
    expect(line).toMatch(/^ {4}…x+bady+…$/);
    expect(line.slice(marker.indexOf('~'), marker.lastIndexOf('~') + 1)).toBe('bad');
  });

  it('CF-3 lets nothing through that moves the cursor or turns text around', () => {
    const shown = mark('x\u001B[31m\u202E: \u0007bad', 'bad');
    expect(shown.split('\n')).toEqual([
      'a.yaml:1:11 wrong',
      '    x\uFFFD[31m\uFFFD: \uFFFDbad',
      '              ~~~',
    ]);
  });

  it('CF-3 orders by position, counts what it leaves out, and forgets none', () => {
    const text = 'k\n'.repeat(150);
    const all = Array.from({ length: 150 }, (_, i) => ({
      start: 298 - 2 * i,
      end: 299 - 2 * i,
      message: `m${i}`,
    }));
    const blocks = renderDiagnostics({ name: 'a.yaml', text }, all).split('\n\n');
    expect(blocks[0]).toBe('a.yaml:1:1 m149\n    k\n    ~');
    expect(blocks).toHaveLength(101);
    expect(blocks.at(-1)).toBe('… and 50 more');
  });
});
