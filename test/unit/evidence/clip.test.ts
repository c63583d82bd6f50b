import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipMiddle, clipStart } from '../../../src/evidence/clip.js';

describe('clip', () => {
  it('EV-11 leaves a text of exactly the maximum size as it is', () => {
    expect(clipMiddle('x'.repeat(100), 100)).toEqual({ text: 'x'.repeat(100), cutBytes: 0 });
  });

  it('EV-11 keeps both ends, and says how much was cut', () => {
    const { text, cutBytes } = clipMiddle(`${'a'.repeat(500)}${'z'.repeat(500)}`, 200);
    expect(text).toMatch(/^a+\n… \d+ bytes cut …\nz+$/);
    expect(text).toContain(`… ${cutBytes} bytes cut …`);
    expect(text.match(/[az]/g)).toHaveLength(1000 - cutBytes);
  });

  it('EV-11 keeps only the end if the beginning matters less', () => {
    expect(clipStart(`${'a'.repeat(500)}z`, 100).text).toMatch(/^… \d+ bytes cut …\na+z$/);
  });

  it.each([clipMiddle, clipStart])('EV-11 never exceeds the maximum size or splits a character', (clip) => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }).filter((text) => !text.includes('\ufffd')),
        fc.integer({ min: 64, max: 600 }),
        (text, max) => {
          const clipped = clip(text, max).text;
          expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(max);
          expect(clipped).not.toContain('\ufffd');
        },
      ),
    );
  });
});

it('EV-11 goes on with a whole line after the cut, since half a path would look like another one', () => {
  const frame = '    at run (/project/node_modules/react/index.js:1:2)\n';
  const { text } = clipMiddle(frame.repeat(100), 1_000);
  expect(text.split(/… \d+ bytes cut …\n/)[1]).toMatch(/^ {4}at run/);
});
