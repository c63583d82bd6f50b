import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskedStream } from '../../../src/secrets/masked-stream.js';
import { type Redactor, redactorOf } from '../../../src/secrets/redactor.js';
import { tempDir } from '../../rig/temp-dir.js';
import { harmlessTexts } from '../../rig/secrets/harmless-texts.js';
import { allPlants, plantedRedactor, plantedRedactors } from '../../rig/secrets/measure.js';
import { leakOf, type Plant, planted } from '../../rig/secrets/plant.js';

/** A redactor that has seen no secret yet; it remembers each value that it has masked. */
async function aRedactor(): Promise<Redactor> {
  return plantedRedactor(tempDir('planted'));
}

/** Longer ones are left to the test of long lines. */
const splittable = allPlants.filter(({ text }) => text.length < 2000);

describe('planted secrets', () => {
  it('EV-9 number at least 200, with at least 500 distinct texts', () => {
    expect(allPlants.length).toBeGreaterThanOrEqual(200);
    expect(new Set(allPlants.map(({ text }) => text)).size).toBeGreaterThanOrEqual(500);
    // If a secret could not be found in its own text, these tests would show nothing.
    expect(allPlants.filter((plant) => leakOf(plant, plant.text) === null)).toEqual([]);
  });

  it('EV-9 are all masked, and masking twice changes nothing', async () => {
    const redactor = await aRedactor();
    const out: string[] = [];
    for (const plant of allPlants) {
      const masked = redactor.clean(plant.text);
      if (leakOf(plant, masked) !== null) out.push(`${plant.kind}, ${plant.spelling}: ${masked}`);
      expect(redactor.clean(masked)).toBe(masked);
    }
    expect(out).toEqual([]);
  });

  it('EV-9 are masked wherever they are split, each by a new redactor', async () => {
    const newRedactor = await plantedRedactors(tempDir('planted'));
    const lengths = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...splittable), lengths, async (plant, sizes) => {
        const text = Buffer.from(`a line\n${plant.text}\n\nand another\n`);
        expect(leak(plant, streamed(await newRedactor(), split(text, sizes)))).toBe(null);
      }),
      { numRuns: 500, seed: 14 },
    );
  });

  it('EV-9 are masked wherever they are split, in lines of any length', async () => {
    const redactor = await aRedactor();
    const piece = fc.record({
      plant: fc.constantFrom(...splittable),
      before: fc.constantFrom('', 'x ', '\n', `${'ab '.repeat(30_000)}\n`, ...harmlessTexts.slice(0, 40)),
    });
    const lengths = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), lengths, (pieces, sizes) => {
        const text = pieces.map(({ before, plant }) => `${before}\n${plant.text}\n\n`).join('');
        const out = streamed(redactor, split(Buffer.from(text), sizes));
        for (const { plant } of pieces) expect(leak(plant, out)).toBe(null);
      }),
      { numRuns: 150 },
    );
  });

  // Found by trying every split: the line that marks a value as secret follows it, or the split is in the next line's indentation.
  it.each([
    [
      'a storage state',
      '"cookies": [\n  {\n    "name": "x",\n    "value": "§",\n',
      '    "domain": "shop.test"\n',
    ],
    ['a HAR', '  {\n    "value": "§",\n', '    "name": "x-api-key"\n  }\n'],
    ['a value broken over indented lines', '  note: Kn§\n   ', '     tail-of-it\n'],
    ['a joined string', "const a = 'KnWb7Tk29Q' +\n  '", "mZx4Lp8Rtail-of-it';\n"],
  ])('EV-9 are masked in %s that arrives in two pieces', (_, first, second) => {
    const value = 'Wb7Tk29QmZx4Lp8R';
    const knowing = redactorOf([{ name: 'A_SECRET', value: `Kn${value}tail-of-it` }]);
    const out = streamed(knowing, [Buffer.from(first.replace('§', value)), Buffer.from(second)]);
    expect(leak(planted('', '', value, ''), out)).toBe(null);
  });
});

describe('an endless line without blanks or quotes', () => {
  it('EV-9 leaks no known value, wherever it is split', async () => {
    const redactor = await aRedactor();
    const known = fc.constantFrom(...allPlants.filter(({ kind }) => kind === 'variable of a file'));
    const around = fc.integer({ min: 0, max: 140_000 });
    fc.assert(
      fc.property(known, around, fc.integer({ min: 1000, max: 70_000 }), (plant, before, size) => {
        const line = `${'ab,'.repeat(before / 3)}${plant.value}${',yz'.repeat(5000)}`;
        expect(leak(plant, streamed(redactor, split(Buffer.from(line), [size])))).toBe(null);
      }),
      { numRuns: 60 },
    );
  });
});

describe('harmless texts', () => {
  it('EV-9 number at least 150, of which at most two are changed', async () => {
    const redactor = await aRedactor();
    expect(harmlessTexts.length).toBeGreaterThanOrEqual(150);
    const touched = harmlessTexts.filter((text) => redactor.clean(text) !== text);
    expect(touched.length, touched.join('\n')).toBeLessThanOrEqual(2);
  });
});

describe('a mask', () => {
  it('EV-9 is the same for every spelling of a secret, and different for another secret', async () => {
    const redactor = await aRedactor();
    const first = 'Wb7Tk29QmZx4Lp8R';
    const masks = [
      `authorization: Bearer ${first}`,
      JSON.stringify({ accessToken: first }),
      `/a?token=${first}`,
      `and ${first} by itself`,
      `and in base64 ${Buffer.from(first).toString('base64')}`,
    ].map((text) => /\[masked: [^\]]+\]/.exec(redactor.clean(text))?.[0]);
    expect(new Set(masks)).toEqual(new Set([masks[0]]));
    expect(redactor.clean('authorization: Bearer Nc3Vh81Ws5Jd0Fg6')).not.toContain(masks[0]);
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

/** What is left of the plant in the text; null if nothing is. */
function leak(plant: Plant, text: string): string | null {
  const found = leakOf(plant, text);
  return found && `${plant.kind}, ${plant.spelling}: ${found}`;
}
