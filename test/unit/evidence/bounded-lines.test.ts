import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { eachBoundedLine } from '../../../src/evidence/trace/bounded-lines.js';

async function linesOf(text: string, size: number, max: number): Promise<[string, boolean][]> {
  const bytes = Buffer.from(text);
  const lines: [string, boolean][] = [];
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  await eachBoundedLine(chunks(), max, (line) => lines.push([line.bytes.toString(), line.whole]));
  return lines;
}

it('EV-11 finds the lines wherever the chunks end', async () => {
  const line = fc.stringMatching(/^[a-z]{1,30}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1 }),
      fc.integer({ min: 1, max: 40 }),
      async (lines, size) => {
        expect(await linesOf(lines.join('\n'), size, 100)).toEqual(lines.map((text) => [text, true]));
      },
    ),
  );
});

it('EV-11 passes on the beginning of a line that is too long, and continues with the next', async () => {
  expect(await linesOf(`${'x'.repeat(1000)}\nshort\n`, 16, 10)).toEqual([
    ['xxxxxxxxxx', false],
    ['short', true],
  ]);
});
