import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { deleteAllUnmaskedFiles, maskSuiteFolder, rawTracePath } from '../../../src/run/mask-suite-folder.js';
import { createMaskedStream } from '../../../src/secrets/masked-stream.js';
import { type Redactor, redact, createRedactorForValues } from '../../../src/secrets/redactor.js';
import { innocents } from '../../rig/secrets/innocents.js';
import { leaksOf, plantedRedactors, plants } from '../../rig/secrets/plants.js';
import { tempDir } from '../../rig/temp-dir.js';

const redactor = createRedactorForValues([]);

/** The output of a stream, piece by piece. */
function streamed(pieces: readonly (string | Buffer)[]): string[] {
  const out: string[] = [];
  const stream = createMaskedStream(redactor, (text) => out.push(text));
  for (const piece of pieces) stream.write(Buffer.from(piece));
  stream.end();
  return out;
}

describe('a masked stream', () => {
  it('EV-9 passes on a line when a few more have followed, so that a log can be followed', () => {
    const out: string[] = [];
    const stream = createMaskedStream(redactor, (some) => out.push(some));
    for (const line of ['one\n', 'two\n', 'three\n', 'four\n']) stream.write(Buffer.from(line));
    expect(out).toEqual([]);
    stream.write(Buffer.from('five\nsi'));
    expect(out).toEqual(['one\n']);
    stream.end();
    expect(out.join('')).toBe('one\ntwo\nthree\nfour\nfive\nsi');
  });

  it('EV-9 holds back a private key until it is complete', () => {
    const key = `the key is\n${plants.find(({ kind }) => kind === 'private key as it is')?.text}\nand that is it`;
    expect(streamed(key.split(/(?<=\n)/)).join('')).toMatch(
      /^the key is\n\[masked: private key[ \d]*\]\nand that is it$/,
    );
  });

  it('EV-9 remembers the field named in a line that was already passed on', () => {
    const field = "  - waiting for getByLabel('Password')\n";
    const between = Array.from({ length: 8 }, (_, n) => `    - tried ${n}\n`);
    expect(streamed([field, ...between, '  - fill("tiny-word")\n']).at(-1)).toMatch(
      /  - fill\("\[masked: password[ \d]*\]"\)\n$/,
    );
  });

  it('EV-10 keeps a character, and removes an escape sequence, that is split between pieces', () => {
    const bytes = Buffer.from('Größe \u001b]52;c;aGk=\u0007 \u001b[31mred\u001b[0m\n');
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    expect(streamed(pieces).join('')).toBe('Größe  red\n');
  });
});

describe('plants', () => {
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

    it('EV-9 are all masked, even among control codes, and a second masking changes nothing', () => {
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

    it('EV-9 EV-11 that are known leave nothing readable in an endless line, wherever it is split', () => {
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
  });

  describe('text without secrets', () => {
    it('EV-9 is not changed, neither here nor by a redactor that knows no variables', () => {
      expect(innocents.length).toBeGreaterThanOrEqual(160);
      const redactor = newRedactor();
      expect(innocents.map((text) => redactor.clean(text))).toEqual(innocents);
      expect(innocents.map(redact)).toEqual(innocents);
    });
  });

  function streamed(redactor: Redactor, pieces: readonly Buffer[]): string {
    const out: string[] = [];
    const stream = createMaskedStream(redactor, (text) => out.push(text));
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
});

describe('mask suite folder', () => {
  const redactor = {
    findMasks: (text: string) =>
      [...text.matchAll(/hidden/g)].map(({ index }) => ({
        start: index,
        end: index + 'hidden'.length,
        text: '[masked: word]',
      })),
  };

  async function aSuite(): Promise<{ runDir: string; suite: string }> {
    const runDir = tempDir();
    const suite = path.join(runDir, 'suites', '1');
    await mkdir(path.join(suite, 'output', 'a-hidden-title'), { recursive: true });
    for (const name of ['server.log', 'playwright.log', 'problems.log', 'report.ndjson']) {
      await writeFile(path.join(suite, name), `${'1 plain line\n'.repeat(50_000)}2 hidden\n`);
    }
    return { runDir, suite };
  }

  describe('masking a suite run', () => {
    it('EV-9 masks its logs in place and leaves what the diagnosis needs', async () => {
      const { suite } = await aSuite();
      await maskSuiteFolder(suite, { isRed: true, redactor });
      expect(readdirSync(suite).sort()).toEqual(['output', 'playwright.log', 'problems.log', 'server.log']);
      const log = readFileSync(path.join(suite, 'server.log'), 'utf8');
      expect(log).toBe(`${'1 plain line\n'.repeat(50_000)}2 [masked: word]\n`);
    });

    it('EV-9 deletes a log that cannot be masked', async () => {
      const { suite } = await aSuite();
      const broken = {
        findMasks: () => {
          throw new Error('the detector broke');
        },
      };
      await maskSuiteFolder(suite, { isRed: true, redactor: broken });
      expect(readdirSync(suite).filter((name) => name.includes('.log'))).toEqual([]);
    });

    it('EV-9 leaves only masked logs at the end of a run', async () => {
      const { runDir, suite } = await aSuite();
      await maskSuiteFolder(suite, { isRed: true, redactor });
      const trace = rawTracePath(runDir, 1);
      await mkdir(path.dirname(trace), { recursive: true });
      await writeFile(trace, 'a hidden zip');
      await deleteAllUnmaskedFiles(runDir);
      expect(readdirSync(suite).sort()).toEqual(['playwright.log', 'problems.log', 'server.log']);
      expect(existsSync(trace)).toBe(false);
    });

    it('EV-9 leaves nothing of a suite run that was cut off before its logs were masked', async () => {
      const { runDir } = await aSuite();
      await deleteAllUnmaskedFiles(runDir);
      expect(readdirSync(path.join(runDir, 'suites'))).toEqual([]);
    });
  });
});
