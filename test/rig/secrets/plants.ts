import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findSecretVariables, readEnvFileSecrets } from '../../../src/secrets/known-values.js';
import { type Redactor, createRedactorForValues } from '../../../src/secrets/redactor.js';
import { linesIn } from './lines-in.js';

/** A secret that nobody ever used, in one of the ways in which it is written. */
export interface Plant {
  readonly kind: string;
  /** What may not be read in what leaves. Eight characters of it in a row count; a shorter value counts as a whole. */
  readonly value: string;
  readonly text: string;
}

const alphabets = {
  a: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  w: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  l: 'abcdefghijklmnopqrstuvwxyz0123456789',
  u: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  h: '0123456789abcdef',
  d: '0123456789',
} as const;

/** Always the same characters for the same seed, mixed as a generator mixes them (xorshift). */
function pseudoRandom(length: number, from: string, seed: number): string {
  let state = (seed * 2_654_435_761 + 97) >>> 0 || 1;
  return Array.from({ length }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return from[state % from.length];
  }).join('');
}

/** `ab_{a36}` → `ab_` and 36 letters and digits: no scanner takes this file for a leak. */
function made(shape: string, seed: number): string {
  let part = seed;
  return shape.replace(/\{(\w)(\d+)\}/g, (_, alphabet: keyof typeof alphabets, length: string) =>
    pseudoRandom(Number(length), alphabets[alphabet], (part += 1000)),
  );
}

/** The lines of a file: `name: the rest`. */
const rowsIn = (file: string) =>
  linesIn(file).map((line) => {
    const at = line.indexOf(': ');
    return [line.slice(0, at), line.slice(at + 2)] as const;
  });

/** The form of the tokens of each issuer. What is said to be newer came with secretlint 13, or is no issuer's that it knows. */
const tokens = rowsIn('tokens.txt');

/** What surrounds a token that stands by itself; `§` is the token. A token in two parts is `‹` and `›`. */
const around = rowsIn('around.txt');

/** Where a secret stands that has no form of its own. */
const places = rowsIn('places.txt');

const passwords = [
  'Winter-Mond!47',
  'Sommer.2031',
  'Ahorn%Blatt26',
  'Kiefer^Zapfen60',
  'Quelle.2037',
  'Hagel_Sturm61x',
];
/** Where a password that a person chose is found, too. */
const chosen =
  /^(?:JSON|password|multipart|YAML|TOML|XML|source|test|step|call log|snapshot|Go|Ruby|Java|form)\b(?!.*(?:URL|@))/;

const key = (seed: number): string => {
  const lines = [0, 1, 2].map((at) => pseudoRandom(64, alphabets.a, seed + at));
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
};
const keyLine = pseudoRandom(64, alphabets.a, 701);
const keys: readonly (readonly [name: string, text: string])[] = [
  ['as it is', key(700)],
  ['in JSON in JSON', JSON.stringify(JSON.stringify({ key: key(700) }))],
  ['in YAML', `key: |\n${key(700).replaceAll(/^/gm, '    ')}`],
  ['without its end', key(700).slice(0, 200)],
  ['behind labels', key(700).replaceAll(/^/gm, '[WebServer] ')],
  ['behind times', key(700).replaceAll(/^/gm, '1795000000123 ')],
];

/** What the environment of a run holds, and its files. */
export const variables = {
  SHOP_DB_PASSWORD: `Env-${pseudoRandom(12, alphabets.a, 31)}-77`,
  PAYMENT_API_KEY: `k${pseudoRandom(28, alphabets.a, 33)}`,
  SESSION_SECRET: `s p@ce "quoted" & <${pseudoRandom(12, alphabets.a, 35)}> 100%`,
  UMLAUT_PASSPHRASE: `Grüße-${pseudoRandom(12, alphabets.a, 104)}-ß€`,
  SYMBOL_PASSWORD: `p@ss/${pseudoRandom(12, alphabets.a, 103)}+w=rd&?#%!`,
  HEX_TOKEN: pseudoRandom(40, alphabets.h, 105),
} as const;

/** The files of a project that hold variables. */
const envFiles: Readonly<Record<string, string>> = {
  '.env': `OPAQUE=${pseudoRandom(40, alphabets.a, 108)}\nBASE_PART=${pseudoRandom(20, alphabets.a, 109)}\nEXPANDED_TOKEN=\${BASE_PART}/tail-9\nAPP_PORT=5173\n`,
  'packages/api/.env.local': `export DATABASE_URL='postgres://app:${pseudoRandom(18, alphabets.a, 107)}@db.shop.test/shop'\n`,
  '.envrc': 'export PIN_SECRET=84h!2z\nexport WORDY_PASSWORD=swordfish\n',
};

const each = (value: string, spell: (character: string) => string) => Array.from(value, spell).join('');
const hexOf = (character: string) => character.charCodeAt(0).toString(16);
const json = (value: string) => JSON.stringify({ note: value });

/** Ways in which programs write a known value into a text. */
const spellings: Readonly<Record<string, (value: string) => string>> = {
  'as it is': (v) => v,
  'within a word': (v) => `x${v}y`,
  'in JSON three deep': (v) => JSON.stringify(JSON.stringify(json(v))),
  'in JSON of Go': (v) => json(v).replace(/[<>&]/g, (found) => `\\u00${hexOf(found)}`),
  'in ASCII JSON': (v) => json(v).replace(/[^\x20-\x7e]/g, (found) => `\\u${hexOf(found).padStart(4, '0')}`),
  'in JSON, all escaped': (v) => `"${each(v, (one) => `\\u${hexOf(one).padStart(4, '0')}`)}"`,
  'in Go, all escaped': (v) => `"${Array.from(v, (one) => `\\U${hexOf(one).padStart(8, '0')}`).join('')}"`,
  'in a URL in a URL': (v) => `/a?next=${encodeURIComponent(`/b?note=${encodeURIComponent(v)}`)}`,
  'in a form': (v) => new URLSearchParams({ note: v }).toString(),
  'in base64': (v) => `blob ${Buffer.from(v).toString('base64')} end`,
  'in base64 at offset 1': (v) => `blob ${Buffer.from(`a${v}zz`).toString('base64')} end`,
  'in base64url at offset 2': (v) => `blob ${Buffer.from(`ab${v}z`).toString('base64url')} end`,
  'in base64 in lines': (v) =>
    Buffer.from(`some words: ${v}, after`).toString('base64').replace(/.{20}/g, '$&\n'),
  'in hex': (v) => `bytes ${Buffer.from(v).toString('hex')}`,
  'in HTML': (v) =>
    `<b>${v.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')}</b>`,
  'in HTML by number': (v) => `<b>${v.replace(/[^\w ]/gu, (one) => `&#${one.codePointAt(0)};`)}</b>`,
  'in a shell': (v) => `run ${v.replace(/[^\w/.-]/g, '\\$&')}`,
  'in colours': (v) => `\u001b[32m${v.slice(0, 9)}\u001b[1;31m${v.slice(9)}\u001b[0m`,
  'over two lines': (v) => `it said ${v.slice(0, 12)}\n        ${v.slice(12)} at last`,
  'in a joined string': (v) => `const a = '${v.slice(0, 10)}' +\n  '${v.slice(10)}';`,
  'in a split write': (v) => `[WebServer] ${v.slice(0, 10)}[WebServer] ${v.slice(10)}\n`,
  'in a file name of Playwright': (v) =>
    `output/pays-with-${v.replaceAll(/[\0-,./:-@[-\x60{-\x7f]+/g, '-')}/trace.zip`,
  'in what cannot be seen': (v) => `${v.slice(0, 6)}\u200b${v.slice(6)}`,
  'on a long line': (v) => `${'{"a":1},'.repeat(2000)}${v}${',{"b":2}'.repeat(500)}`,
};

function known(): Plant[] {
  const spelled = Object.entries(variables).flatMap(([name, value]) =>
    Object.entries(spellings).map(([how, spell]) => ({ kind: `${name} ${how}`, value, text: spell(value) })),
  );
  const ofFiles = [
    pseudoRandom(40, alphabets.a, 108),
    `${pseudoRandom(20, alphabets.a, 109)}/tail-9`,
    pseudoRandom(18, alphabets.a, 107),
    '84h!2z',
    'swordfish',
  ];
  return [
    ...spelled,
    ...ofFiles.map((value) => ({ kind: 'of a file', value, text: `the log says ${value}, and more` })),
  ];
}

/** Everything that is planted, each with a value of its own. */
export const plants: readonly Plant[] = [
  ...known(),
  ...tokens.flatMap(([name, shape], n) =>
    [0, 5, 10].map((step) => {
      const [how, text] = around[(n + step) % around.length] ?? ['', ''];
      const value = made(shape, 300 + n * 3 + step);
      const half = Math.floor(value.length / 2);
      const halves = [value.slice(0, half), value.slice(half)] as const;
      const secret = shape.startsWith('https:') ? value.slice(-24) : value;
      return {
        kind: `${name}, ${how}`,
        value: secret,
        text: text.replace('§', value).replace('‹', halves[0]).replace('›', halves[1]),
      };
    }),
  ),
  ...places.map(([kind, text], n) => {
    const value = made('{a6}7{a7}4{a8}', 900 + n);
    return { kind, value, text: text.replace('§', value) };
  }),
  ...places
    .filter(([kind]) => chosen.test(kind))
    .map(([kind, text], n) => {
      const value = passwords[n % passwords.length] ?? '';
      return { kind: `${kind}, chosen`, value, text: text.replace('§', value) };
    }),
  ...keys.map(([how, text]) => ({ kind: `private key ${how}`, value: keyLine, text })),
  {
    kind: 'basic',
    value: 'YW5uOlZiOFFtMkxwMFhzNFRuNlI',
    text: 'sent with Basic YW5uOlZiOFFtMkxwMFhzNFRuNlI=.',
  },
];

/** Makes the folder a project whose files hold the planted variables. */
export async function plantIn(root: string): Promise<void> {
  for (const [file, content] of Object.entries(envFiles)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content);
  }
}

/** Makes redactors of runs in such a project that have seen nothing yet. */
export async function plantedRedactors(): Promise<() => Redactor> {
  const root = await mkdtemp(path.join(tmpdir(), 'planted '));
  await plantIn(root);
  const known = [...findSecretVariables(variables), ...(await readEnvFileSecrets(root))];
  await rm(root, { recursive: true });
  return () => createRedactorForValues(known);
}

const stretch = 8;

/** Which of the secrets can be read in a text, however they are written there: `kind: the first stretch`. */
export function leaksOf(secrets: readonly Pick<Plant, 'kind' | 'value'>[], text: string): string[] {
  const readable = readings(text);
  return secrets.flatMap(({ kind, value }) => {
    const whole = readings(value)[1] ?? value;
    for (let at = 0; at === 0 || at + stretch <= whole.length; at += 1) {
      const part = whole.slice(at, at + stretch);
      if (readable.some((one) => one.includes(part))) return [`${kind}: ${part}`];
    }
    return [];
  });
}

/** The text as it stands, and as somebody reads it who undoes whatever was done to it. */
function readings(text: string): string[] {
  let read = text;
  const character = (digits: string, radix: number) => String.fromCodePoint(Number.parseInt(digits, radix));
  for (let round = 0; round < 4; round += 1) {
    read = read
      .replace(/\\+U([\dA-Fa-f]{8})/g, (_, digits: string) => character(digits, 16))
      .replace(/\\+u\{?([\dA-Fa-f]{4,5})\}?/g, (_, digits: string) => character(digits, 16))
      .replace(/\\+[nrt]|\\+/g, '')
      .replace(/(?:%[\dA-Fa-f]{2})+/g, (found) => Buffer.from(found.replaceAll('%', ''), 'hex').toString())
      .replace(/&#(\d{1,6});/g, (_, digits: string) => character(digits, 10))
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
  }
  // oxlint-disable-next-line no-control-regex -- ESC begins a colour
  const bare = read.replace(/\u001b\[[\d;]*m|\[[\w ]+\] |[\s'"+\u200b]/g, '');
  const base64 = [...bare.matchAll(/[\w/-]{16,}={0,2}/g)].flatMap(([found]) =>
    [0, 1, 2, 3].map((from) => Buffer.from(found.slice(from), 'base64').toString('latin1')),
  );
  const hex = [...bare.matchAll(/[\da-f]{24,}/gi)].map(([found]) => Buffer.from(found, 'hex').toString());
  return [text, bare, base64.join('\n'), hex.join('\n')];
}
