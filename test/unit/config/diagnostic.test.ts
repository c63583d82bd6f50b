import { describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../../src/config/diagnostic.js';

function mark(text: string, fault: string): string {
  const start = text.indexOf(fault);
  return renderDiagnostics('a.yaml', text, [{ start, end: start + fault.length, message: 'wrong' }]);
}

describe('CF-3 how a mistake is shown', () => {
  it.each([
    ['in the first line', 'bad: 1\nok: 2\n', 'bad', '1:1', 'bad: 1', '~~~'],
    ['in a later line', 'ok: 1\n  bad: 2\n', 'bad', '2:3', '  bad: 2', '  ~~~'],
    ['in a last line without a line break', 'ok: 1\nx: bad', 'bad', '2:4', 'x: bad', '   ~~~'],
    ['in a line that ends in CRLF', 'ok: 1\r\nx: bad\r\n', 'bad', '2:4', 'x: bad', '   ~~~'],
    ['on the first of its lines', 'x: [a,\n  b]\n', '[a,\n  b]', '1:4', 'x: [a,', '   ~~~'],
    ['after a tab', 'x:\tbad\n', 'bad', '1:4', 'x:\tbad', '  \t~~~'],
    ['after wide characters', '漢字: bad', 'bad', '1:5', '漢字: bad', '      ~~~'],
    ['of wide characters', 'x: 漢字 y', '漢字', '1:4', 'x: 漢字 y', '   ~~~~'],
    ['after combining characters', 'e\u0301: bad', 'bad', '1:5', 'é: bad', '   ~~~'],
    ['after an emoji of several code points', '👩‍👩‍👧: bad', 'bad', '1:11', '👩‍👩‍👧: bad', '    ~~~'],
  ])('CF-3 marks a mistake %s', (_, text, fault, place, line, marker) => {
    expect(mark(text, fault)).toBe(`a.yaml:${place} wrong\n    ${line}\n    ${marker}`);
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
