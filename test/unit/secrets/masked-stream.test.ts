import { describe, expect, it } from 'vitest';
import { maskedStream } from '../../../src/secrets/masked-stream.js';
import { redactorOf } from '../../../src/secrets/redactor.js';
import { plants } from '../../rig/secrets/plants.js';

const redactor = redactorOf([]);
const { text, value } = plants.find(({ kind }) => kind === 'GitHub, in a sentence') ?? {
  text: '',
  value: '',
};

/** The output of a stream, piece by piece. */
function streamed(pieces: readonly (string | Buffer)[]): string[] {
  const out: string[] = [];
  const stream = maskedStream(redactor, (text) => out.push(text));
  for (const piece of pieces) stream.write(Buffer.from(piece));
  stream.end();
  return out;
}

describe('a masked stream', () => {
  it('EV-9 passes on a line when a few more have followed, so that a log can be followed', () => {
    const out: string[] = [];
    const stream = maskedStream(redactor, (some) => out.push(some));
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

  it('EV-9 masks a value that is wrapped over lines, wherever they are split', () => {
    const value = 'Knu!jE1DBoOf9YqM5IvE';
    const knowing = redactorOf([{ name: 'DB_PASSWORD', value }]);
    const wrapped = Buffer.from(`some words: ${value}, and more`)
      .toString('base64')
      .replaceAll(/.{20}/g, '$&\n');
    for (let at = 1; at < wrapped.length; at += 1) {
      const out: string[] = [];
      const stream = maskedStream(knowing, (text) => out.push(text));
      stream.write(Buffer.from(wrapped.slice(0, at)));
      stream.write(Buffer.from(`${wrapped.slice(at)}\n`));
      stream.end();
      expect(Buffer.from(out.join(''), 'base64').toString()).not.toContain(value.slice(0, 8));
    }
  });

  it('EV-9 remembers the field named in a line that was already passed on', () => {
    const field = "  - waiting for getByLabel('Password')\n";
    const between = Array.from({ length: 8 }, (_, n) => `    - tried ${n}\n`);
    expect(streamed([field, ...between, '  - fill("tiny-word")\n']).at(-1)).toMatch(
      /  - fill\("\[masked: password[ \d]*\]"\)\n$/,
    );
  });

  it('EV-11 passes on an endless line in pieces without splitting a secret', () => {
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
