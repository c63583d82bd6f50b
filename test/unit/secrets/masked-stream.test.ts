import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { maskedStream } from '../../../src/secrets/masked-stream.js';
import { redactorOf, type Redactor } from '../../../src/secrets/redactor.js';
import { ordinaryTexts, plantedSecrets } from '../../rig/planted-secrets.js';

let redactor: Redactor;
beforeAll(async () => {
  redactor = redactorOf([]);
  await redactor.load();
});

/** The output of a stream, piece by piece. */
function streamed(pieces: readonly (string | Buffer)[]): string[] {
  const out: string[] = [];
  const stream = maskedStream(redactor, (text) => out.push(text));
  for (const piece of pieces) stream.write(Buffer.from(piece));
  stream.end();
  return out;
}

describe('a masked stream', () => {
  it('EV-9 masks every planted secret, wherever the input is split', () => {
    const piece = fc.tuple(fc.constantFrom(...ordinaryTexts), fc.constantFrom(...plantedSecrets));
    const texts = fc.array(piece, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(texts, fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 40 }), (all, lengths) => {
        const bytes = Buffer.from(all.map(([before, { text }]) => `${before}\n${text}\n`).join(''));
        const pieces: Buffer[] = [];
        for (let [at, n] = [0, 0]; at < bytes.length; n += 1) {
          const length = (lengths[n % lengths.length] ?? 0) + 1;
          pieces.push(bytes.subarray(at, at + length));
          at += length;
        }
        const out = streamed(pieces).join('');
        for (const [before, secret] of all) {
          expect(out).not.toContain(secret.value);
          expect(out).toContain(before);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('EV-9 passes on complete lines at once, so that a log can be followed', () => {
    const out: string[] = [];
    const stream = maskedStream(redactor, (text) => out.push(text));
    stream.write(Buffer.from('one\ntwo\nthr'));
    expect(out).toEqual(['one\ntwo\n']);
    stream.write(Buffer.from('ee\n'));
    expect(out).toEqual(['one\ntwo\n', 'three\n']);
  });

  it('EV-9 holds back a private key until it is complete', () => {
    const key = plantedSecrets.find(({ kind }) => kind === 'SSH key')?.text ?? '';
    expect(streamed(key.split(/(?<=\n)/)).join('')).toMatch(
      /^the key is\n\[masked: private key[ \d]*\]\nand that is it$/,
    );
  });

  it('EV-9 holds back lines of one word until another line follows, since a value may be wrapped across them', () => {
    const value = 'Knu!jE1DBoOf9YqM5IvE';
    const knowing = redactorOf([{ name: 'DB_PASSWORD', value }]);
    const wrapped = Buffer.from(`some words: ${value}, and more`)
      .toString('base64')
      .replaceAll(/.{20}/g, '$&\n');
    for (let at = 1; at < wrapped.length; at += 1) {
      const out: string[] = [];
      const stream = maskedStream(knowing, (text) => out.push(text));
      stream.write(Buffer.from(wrapped.slice(0, at)));
      stream.write(Buffer.from(`${wrapped.slice(at)}\nand on\n`));
      expect(out.join('')).toContain('and on');
      expect(Buffer.from(out.join(''), 'base64').toString()).not.toContain(value.slice(0, 8));
    }
  });

  it('EV-9 remembers the field named in a line that was already passed on', () => {
    const pieces = ["  - waiting for getByLabel('Password')\n", '  - fill("tiny-word")\n'];
    expect(streamed(pieces).join('').slice(pieces[0]?.length)).toMatch(
      /^  - fill\("\[masked: password[ \d]*\]"\)\n$/,
    );
  });

  it('EV-11 passes on an endless line in pieces without splitting a secret', () => {
    const { text, value } = plantedSecrets[0] ?? { text: '', value: '' };
    const flood = `${'{"a": "b"} '.repeat(1000)}${text} `.repeat(40);
    const out = streamed([...flood.matchAll(/[\s\S]{1,5000}/g)].map(([piece]) => piece));
    expect(out.length).toBeGreaterThan(2);
    expect(out.join('')).not.toContain(value.slice(0, 20));
    expect(out.join('')).toBe(redactor.clean(flood));
  });

  it('EV-10 keeps a character that is split between pieces, and removes an escape sequence that is', () => {
    const bytes = Buffer.from('Größe \u001b]52;c;aGk=\u0007 \u001b[31mred\u001b[0m\n');
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    expect(streamed(pieces).join('')).toBe('Größe  red\n');
  });
});
