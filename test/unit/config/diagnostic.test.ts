import { describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../../src/config/diagnostic.js';

function mark(text: string, fault: string): string {
  const start = text.indexOf(fault);
  return renderDiagnostics('a.yaml', text, [{ start, end: start + fault.length, message: 'wrong' }]);
}

describe('CF-3 how a mistake is shown', () => {
  it.each([
    ['in the first line', 'bad: 1\nok: 2\n', 'bad', ['a.yaml:1:1 wrong', '    bad: 1', '    ~~~']],
    ['in a later line', 'ok: 1\n  bad: 2\n', 'bad', ['a.yaml:2:3 wrong', '      bad: 2', '      ~~~']],
    [
      'in a last line without a line break',
      'ok: 1\nx: bad',
      'bad',
      ['a.yaml:2:4 wrong', '    x: bad', '       ~~~'],
    ],
    [
      'in a line that ends in CRLF',
      'ok: 1\r\nx: bad\r\n',
      'bad',
      ['a.yaml:2:4 wrong', '    x: bad', '       ~~~'],
    ],
    [
      'on the first of its lines',
      'x: [a,\n  b]\n',
      '[a,\n  b]',
      ['a.yaml:1:4 wrong', '    x: [a,', '       ~~~'],
    ],
    ['after a tab', 'x:\tbad\n', 'bad', ['a.yaml:1:4 wrong', '    x:\tbad', '      \t~~~']],
    ['after wide characters', '漢字: bad', 'bad', ['a.yaml:1:5 wrong', '    漢字: bad', '          ~~~']],
    ['of wide characters', 'x: 漢字 y', '漢字', ['a.yaml:1:4 wrong', '    x: 漢字 y', '       ~~~~']],
    [
      'after combining characters',
      'e\u0301: bad',
      'bad',
      ['a.yaml:1:5 wrong', '    e\u0301: bad', '       ~~~'],
    ],
    [
      'after an emoji of several code points',
      '👩‍👩‍👧: bad',
      'bad',
      ['a.yaml:1:11 wrong', '    👩‍👩‍👧: bad', '        ~~~'],
    ],
  ])('CF-3 marks a mistake %s', (_, text, fault, lines) => {
    expect(mark(text, fault).split('\n')).toEqual(lines);
  });

  it('CF-3 shows a mistake at the end of the file after the last line that is not empty', () => {
    const text = 'x: [1\n\n\n';
    const shown = renderDiagnostics('a.yaml', text, [{ start: 8, end: 9, message: 'wrong' }]);
    expect(shown).toBe('a.yaml:1:6 wrong\n    x: [1\n         ~');
  });

  it('CF-3 shows a mistake in an empty file', () => {
    expect(renderDiagnostics('a.yaml', '', [{ start: 0, end: 1, message: 'wrong' }])).toBe(
      'a.yaml:1:1 wrong\n    \n    ~',
    );
  });

  it('CF-3 shortens a long line around the mistake, and keeps the marker under it', () => {
    const [head, line = '', marker = ''] = mark(`${'x'.repeat(500)}bad${'y'.repeat(500)}`, 'bad').split('\n');
    expect(head).toBe('a.yaml:1:501 wrong');
    expect(line.length).toBeLessThan(120);
    expect(line).toMatch(/^ {4}…x+bady+…$/);
    expect(line.slice(marker.indexOf('~'), marker.lastIndexOf('~') + 1)).toBe('bad');
  });

  it('CF-3 replaces characters that move the cursor or reverse text', () => {
    const shown = mark('x\u001B[31m\u202E: \u0007bad', 'bad');
    expect(shown.split('\n')).toEqual([
      'a.yaml:1:11 wrong',
      '    x\uFFFD[31m\uFFFD: \uFFFDbad',
      '              ~~~',
    ]);
  });

  it('CF-3 orders mistakes by position, and counts those that it leaves out', () => {
    const text = 'k\n'.repeat(150);
    const all = Array.from({ length: 150 }, (_, i) => ({
      start: 298 - 2 * i,
      end: 299 - 2 * i,
      message: `m${i}`,
    }));
    const blocks = renderDiagnostics('a.yaml', text, all).split('\n\n');
    expect(blocks[0]).toBe('a.yaml:1:1 m149\n    k\n    ~');
    expect(blocks).toHaveLength(101);
    expect(blocks.at(-1)).toBe('… and 50 more');
  });
});
