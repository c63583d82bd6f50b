import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { maskedStream } from '../../../src/secrets/masked-stream.js';
import { redact, type Redactor } from '../../../src/secrets/redactor.js';
import { innocents } from '../../rig/secrets/innocents.js';
import { leaksOf, plantedRedactors, plants } from '../../rig/secrets/plants.js';

/** Makes redactors that have seen no secret yet: each remembers the values that it has masked. */
let newRedactor: () => Redactor;
beforeAll(async () => {
  newRedactor = await plantedRedactors();
});

/** Longer ones are left to the test of long lines. */
const splittable = plants.filter(({ text }) => text.length < 2000);

describe('planted secrets', () => {
  it('EV-9 are many, and could be read in their own texts', () => {
    expect(new Set(plants.map(({ text }) => text)).size).toBeGreaterThanOrEqual(450);
    expect(plants.filter(({ kind }) => kind.includes('newer')).length).toBeGreaterThanOrEqual(103);
    expect(plants.filter((plant) => leaksOf([plant], plant.text).length === 0)).toEqual([]);
  });

  it('EV-9 are all masked, in a text that keeps its control codes as well, and masking twice changes nothing', () => {
    const [cleaning, keeping] = [newRedactor(), newRedactor()];
    for (const plant of plants) {
      const [clean, text] = [cleaning.clean(plant.text), keeping.text(plant.text)];
      expect(leaksOf([plant], `${clean}\n\n${text}`)).toEqual([]);
      expect([cleaning.clean(clean), keeping.text(text)]).toEqual([clean, text]);
    }
  });

  it('EV-9 EV-11 are masked wherever they are split, in lines of any length, each by a new redactor', () => {
    const piece = fc.record({
      plant: fc.constantFrom(...splittable),
      before: fc.constantFrom('', 'x ', '\n', `${'ab '.repeat(30_000)}\n`, ...innocents.slice(0, 40)),
    });
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 9000 })), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 3 }), sizes, (pieces, lengths) => {
        const text = pieces.map(({ before, plant }) => `${before}\n${plant.text}\n\n`).join('');
        const out = streamed(newRedactor(), split(Buffer.from(text), lengths));
        expect(
          leaksOf(
            pieces.map(({ plant }) => plant),
            out,
          ),
        ).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('EV-9 EV-11 that are known leave nothing readable in an endless line without blanks, wherever it is split', () => {
    const redactor = newRedactor();
    const known = fc.constantFrom(...plants.filter(({ kind }) => /^[A-Z_]+ as it is$/.test(kind)));
    const around = fc.integer({ min: 0, max: 140_000 });
    fc.assert(
      fc.property(known, around, fc.integer({ min: 1000, max: 70_000 }), (plant, before, size) => {
        const line = `${'ab,'.repeat(before / 3)}${plant.value}${',yz'.repeat(5000)}`;
        expect(leaksOf([plant], streamed(redactor, split(Buffer.from(line), [size])))).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('EV-9 never get through, whatever surrounds them, and masking twice changes nothing', () => {
    const around = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom(...innocents));
    fc.assert(
      fc.property(around, fc.constantFrom(...splittable), around, (before, plant, after) => {
        const redactor = newRedactor();
        const once = redactor.text(`${before}\n${plant.text}\n${after}`);
        expect(leaksOf([plant], once)).toEqual([]);
        expect(redactor.text(once)).toBe(once);
      }),
      { numRuns: 250 },
    );
  });

  it('EV-9 are found behind what only looks like a mask', () => {
    const token = plants.filter(({ kind }) => kind === 'GitHub, in a sentence');
    for (const { value } of token)
      for (const label of [value, `value of ${value}`])
        expect(leaksOf(token, newRedactor().clean(`[masked: ${label}]`))).toEqual([]);
  });
});

describe('what is no secret', () => {
  it('EV-9 is not changed, neither here nor by a redactor that knows no variables', () => {
    expect(innocents.length).toBeGreaterThanOrEqual(160);
    const redactor = newRedactor();
    expect(innocents.map((text) => redactor.clean(text))).toEqual(innocents);
    expect(innocents.map(redact)).toEqual(innocents);
  });
});

function streamed(redactor: Redactor, pieces: readonly Buffer[]): string {
  const out: string[] = [];
  const stream = maskedStream(redactor, (text) => out.push(text));
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return out.join('');
}

function split(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let [at, n] = [0, 0]; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
