import path from 'node:path';
import { readdir, readFile, stat } from 'node:fs/promises';
import { parse } from 'dotenv';
import { expand } from 'dotenv-expand';
import { decodePercent } from '../urls.js';
import { findGitRoot } from '../workspace/git.js';
import { type SecretMatch, type DecodedText, decodeText } from './reading.js';
import { isGenerated, hasLettersAndDigits, classifyName } from './secret-fields.js';

/** A secret on this machine: its value, and the name of the variable that holds it. */
export interface KnownValue {
  readonly name: string;
  readonly value: string;
}

type Variable = readonly [name: string, value: string];

/** Values that are common to thousands of projects and appear in many texts. */
const commonValue =
  /^(?:(?:true|false|null|undefined|none|localhost|postgres|postgresql|mysql|mariadb|mongo|redis|supabase|admin|root|user|guest|test|testing|secret|password|passw0rd|changeme|default|development|production|staging|example|anonymous|disabled|enabled|required|optional|memory|cookie|bearer|basic|session|token|verbose|silent|warning|console|strict|database|sqlite|server|client|browser|chromium|firefox|webkit|headless|public|private|always|system)[\d!]{0,3}|[\d.,:_+-]+)$/i;
/** Paths and addresses without a password, which give nobody access. */
const addressOrPath =
  /^(?:(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w .@-]+){2,}[\\/]?|[a-z][a-z\d+.-]{1,20}:\/\/(?:[^\s:/@?#]{1,64}@)?[^\s@?#]+|[\w-]+(?:\.[\w-]+)*:\d{2,5})$/i;

/** Returns the values of variables whose names say that they are secret, and the passwords in URLs that any variable holds. */
export function findSecretVariables(variables: Readonly<Record<string, string | undefined>>): KnownValue[] {
  return findSecrets(Object.entries(variables).map(([name, value = '']) => [name, value]));
}

function findSecrets(variables: readonly Variable[]): KnownValue[] {
  return variables
    .filter(([name]) => !/^(?:OLD)?PWD$/.test(name))
    .flatMap(([name, value]) => {
      const meaning = classifyName(name);
      const isSecret = meaning === 'secret' || (meaning === 'handle' && hasLettersAndDigits(value));
      return [...(isSecret ? splitMaskableLines(value) : []), ...findPasswords(value)].map((part) => ({
        name,
        value: part,
      }));
    })
    .filter(
      ({ value }) => value.length >= MIN_LENGTH && !commonValue.test(value) && !addressOrPath.test(value),
    );
}

/** A shorter value occurs in too many texts to be masked everywhere. */
const MIN_LENGTH = 6;

/** Returns a value and each of its lines, since a program may print one line alone. Omits lines that only frame a key or data. */
function splitMaskableLines(value: string): readonly string[] {
  const lines = value.split(/\s*(?:\n|\\n)\s*/);
  return lines.length === 1
    ? lines
    : [value, ...lines.filter((line) => !/^(?:-----(?:BEGIN|END) |["']?[\w.-]+["']?\s?:\s)/.test(line))];
}

/** One to three words, which a page may show too: "wrong password". */
const plainWords = /^[A-Za-z][a-z]*(?:[\s_-][a-z]+){0,2}$/;

/** Returns those texts typed into secret fields, and their lines, that are distinctive enough to be masked everywhere. */
export function listMaskableTexts(typed: Iterable<string>): readonly string[] {
  return [...typed]
    .flatMap(splitMaskableLines)
    .filter(
      (text) =>
        text.length >= MIN_LENGTH &&
        !plainWords.test(text) &&
        (/^\d+$/.test(text) || !commonValue.test(text)) &&
        !text.includes('[masked: '),
    );
}

function findPasswords(value: string): readonly string[] {
  // Up to the last @ before the host: one that is not encoded is part of the password (WHATWG URL).
  const [, password] =
    /^[a-z][a-z\d+.-]{1,20}:\/\/[^\s:@/]{0,128}:([^\s@]{1,256}(?:@[^\s@/?#]{1,256}){0,8})@/i.exec(value) ??
    [];
  return password === undefined ? [] : [...new Set([password, decodePercent(password)])];
}

const MAX_BYTES = 256 * 1024;
const MAX_FOLDERS = 2000;
const MAX_DEPTH = 4;
const envFile = /^(?:\.env(?:[.-].*)?|\.envrc|\.dev\.vars(?:\..*)?|[\w.-]+\.env)$/;
/** Sample files hold placeholders, which may appear in any text. */
const sampleFile = /[.-](?:example|sample|template|dist|schema|defaults)$/i;
/** Folders that contain no package of the project itself. */
const foreignFolder =
  /^(?:node_modules|dist|build|out|coverage|vendor|target|test-results|playwright-report|\..*)$/;

/**
 * Returns the values in the environment files of the project, of the packages below it, and of the folders above it up to the root of its repository,
 * without values that cannot be secrets. Files that cannot be read are ignored; never rejects.
 */
export async function readEnvFileSecrets(folder: string): Promise<KnownValue[]> {
  const root = path.resolve(folder);
  const folders = [...listFoldersUpToRepository(root), ...(await findPackagesBelow(root))];
  const files = (await Promise.all(folders.map(listEnvFiles))).flat();
  const variables = (await Promise.all(files.map(readVariables))).flat();
  // Only the password of a URL is masked: the rest tells a reader which server it is.
  const maskedVariables = variables.filter(
    ([, value]) => !isHarmless(value) && findPasswords(value).length === 0,
  );
  const lines = maskedVariables.flatMap(([name, value]) =>
    splitMaskableLines(value).map((line) => ({ name, value: line })),
  );
  return [...findSecrets(variables), ...lines.filter(({ value }) => !isHarmless(value))];
}

/** A path of one folder. */
const singleFolder = /^[\\/][\w.@-]+$/;

/** True if a value, or each item of a list, is too short or too common to be masked, or is an address. */
function isHarmless(value: string): boolean {
  return value
    .split(/\s*[,;]\s*/)
    .every(
      (item) =>
        item.length < MIN_LENGTH ||
        [commonValue, addressOrPath, singleFolder].some((pattern) => pattern.test(item)),
    );
}

/** True if ordinary code may contain this value: it is a few plain words, and its name does not say that it is secret. */
export function isCommonInCode({ name, value }: KnownValue): boolean {
  return /^[a-z]+(?:[\s_-][a-z]+){0,2}$/i.test(value) && classifyName(name) === null;
}

/** Outside a repository, lists only the folder itself: the folders above do not belong to the project. */
function listFoldersUpToRepository(folder: string): string[] {
  const root = findGitRoot(folder) ?? folder;
  return folder === root ? [folder] : [folder, ...listFoldersUpToRepository(path.dirname(folder))];
}

async function findPackagesBelow(folder: string): Promise<string[]> {
  const folders: string[] = [];
  let level = [folder];
  for (let depth = 0; depth < MAX_DEPTH && folders.length < MAX_FOLDERS; depth += 1) {
    level = (await Promise.all(level.map(listFolders))).flat().slice(0, MAX_FOLDERS);
    folders.push(...level);
  }
  return folders;
}

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !foreignFolder.test(entry.name))
    .map((entry) => path.join(folder, entry.name));
}

async function listEnvFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => envFile.test(name) && !sampleFile.test(name))
    .map((name) => path.join(folder, name));
}

/** Reads each variable in three forms, since a program may print any of them: as written, unescaped, and with `${NAME}` expanded. */
async function readVariables(file: string): Promise<readonly Variable[]> {
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) return [];
    const asWritten = parse(await readFile(file));
    const expanded = expand({ parsed: { ...asWritten }, processEnv: {} }).parsed ?? {};
    const unescaped = Object.entries(asWritten).map(([name, value]): Variable => [
      name,
      value.replace(/\\(["'`$\\])/g, '$1'),
    ]);
    return [...Object.entries(asWritten), ...unescaped, ...Object.entries(expanded)];
  } catch {
    return [];
  }
}

/** An index of known values, each with the label of its mask. */
export interface SecretIndex {
  /** Does nothing if the value is already known. */
  readonly add: (value: string, label: string) => void;
  readonly find: (reading: DecodedText) => readonly SecretMatch[];
}

interface Entry {
  readonly alphanumerics: string;
  readonly label: string;
}

/** The index stores a piece (gram) of `GRAM_LENGTH` characters from every third position of a value, and looks one up at each position of a text. */
const GRAM_LENGTH = 6;
const GRAM_STEP = 3;
/** Shorter values, and plain words shorter than twice `MIN_PART_LENGTH`, are found only if they appear unchanged. */
const MIN_BARE_LENGTH = 10;
/** The minimum length at which a part of a generated value counts as the secret; at its beginning or end, `MIN_BARE_LENGTH` is enough. */
const MIN_PART_LENGTH = 12;
/** Bounds the index: a run that finds more values than this does not find secrets. */
const MAX_ENTRIES = 20_000;

/**
 * Creates an empty index. It compares only letters and digits, and so finds a value that was quoted, escaped, wrapped, joined or made a file
 * name. The time to search a text depends on its length, not on the number of values.
 */
export function createSecretIndex(): SecretIndex {
  const added = new Set<string>();
  const exact = new Map<string, string>();
  const grams = new Map<string, (readonly [entry: Entry, offset: number])[]>();
  const gramStarts = new Uint8Array(0x10000);
  const addBare = (bare: string, label: string): void => {
    if (!(hasLettersAndDigits(bare) ? bare.length >= MIN_BARE_LENGTH : bare.length >= 2 * MIN_PART_LENGTH))
      return;
    if (added.has(bare) || added.size > MAX_ENTRIES) return;
    added.add(bare);
    const entry = { alphanumerics: bare, label };
    for (let offset = 0; offset + GRAM_LENGTH <= bare.length; offset += GRAM_STEP) {
      const gram = bare.slice(offset, offset + GRAM_LENGTH);
      grams.set(gram, [...(grams.get(gram) ?? []), [entry, offset]]);
      gramStarts[readPair(gram, 0)] = 1;
    }
  };
  const find = (reading: DecodedText): SecretMatch[] => {
    const matches = [...exact].flatMap(([value, label]) => findOccurrences(reading.text, value, label));
    if (grams.size === 0) return matches;
    const bare = keepAlphanumerics(reading.text);
    const matchEnds = new Map<Entry, number>();
    for (let at = 0; at + GRAM_LENGTH <= bare.text.length; at += 1) {
      if (gramStarts[readPair(bare.text, at)] === 0) continue;
      for (const [entry, offset] of grams.get(bare.text.slice(at, at + GRAM_LENGTH)) ?? []) {
        if (at < (matchEnds.get(entry) ?? 0)) continue;
        const [from, to] = extendMatch(bare.text, at, { entry, offset, after: matchEnds.get(entry) ?? 0 });
        if (!isRevealing(bare.text.slice(from, to), entry.alphanumerics)) continue;
        matchEnds.set(entry, to);
        const [start, end] = [bare.toOriginalIndex(from), bare.toOriginalIndex(to - 1) + 1];
        matches.push({ start, end, kind: 'known value', label: entry.label });
      }
    }
    return matches;
  };
  return {
    add: (value, label) => {
      const decoded = decodeText(value).text;
      for (const text of [decoded, ...encodeVariants(value)]) addBare(keepAlphanumerics(text).text, label);
      if (!added.has(keepAlphanumerics(decoded).text) && decoded.length >= GRAM_LENGTH)
        exact.set(decoded, label);
    },
    find,
  };
}

/** True if the characters that a text shares with a secret reveal it. */
function isRevealing(common: string, value: string): boolean {
  if (common.length === value.length) return true;
  if (common.length >= MIN_PART_LENGTH) return isGenerated(common);
  const isEdge = value.startsWith(common) || value.endsWith(common);
  return isEdge && common.length >= MIN_BARE_LENGTH && hasLettersAndDigits(common);
}

function readPair(text: string, at: number): number {
  return ((text.charCodeAt(at) << 8) ^ text.charCodeAt(at + 1)) & 0xffff;
}

/** Extends a shared gram in both directions as far as text and value agree, but not before `after`, the end of the previous match. */
function extendMatch(
  text: string,
  at: number,
  { entry: { alphanumerics }, offset, after }: { entry: Entry; offset: number; after: number },
): readonly [from: number, to: number] {
  let [from, first] = [at, offset];
  while (from > after && first > 0 && text[from - 1] === alphanumerics[first - 1])
    [from, first] = [from - 1, first - 1];
  let [to, next] = [at + GRAM_LENGTH, offset + GRAM_LENGTH];
  while (next < alphanumerics.length && text[to] === alphanumerics[next]) [to, next] = [to + 1, next + 1];
  return [from, to];
}

function findOccurrences(text: string, value: string, label: string): SecretMatch[] {
  const matches: SecretMatch[] = [];
  for (let start = text.indexOf(value); start !== -1; start = text.indexOf(value, start + 1)) {
    const end = start + value.length;
    const isWord = !/[A-Za-z\d]/.test(text[start - 1] ?? '') && !/[A-Za-z\d]/.test(text[end] ?? '');
    if (isWord || value.length >= MIN_PART_LENGTH) matches.push({ start, end, kind: 'known value', label });
  }
  return matches;
}

/** Returns the letters and digits of a text, and the original position of each. */
function keepAlphanumerics(text: string): {
  readonly text: string;
  readonly toOriginalIndex: (index: number) => number;
} {
  const positions = new Uint32Array(text.length);
  const parts: string[] = [];
  let length = 0;
  for (const { 0: run, index } of text.matchAll(/[A-Za-z\d\u00aa-\u1fff\u2c00-\uffff]+/g)) {
    for (let n = 0; n < run.length; n += 1) positions[length + n] = index + n;
    length += run.length;
    parts.push(run);
  }
  return { text: parts.join(''), toOriginalIndex: (index) => positions[index] ?? 0 };
}

/**
 * Encodes a value as its bytes in hex, decimal (Node's Buffers in JSON) and octal, and in base64, also of UTF-16, at each of the three alignments, since
 * it may be encoded as part of a longer text.
 */
function encodeVariants(value: string): string[] {
  const bytes = Buffer.from(value);
  if (bytes.length < 8) return [];
  const hex = bytes.toString('hex');
  const decimal = Array.from(bytes, String).join('');
  const octal = Array.from(bytes, (byte) => byte.toString(8).padStart(3, '0')).join('');
  const inBase64 = [bytes, Buffer.from(value, 'utf16le')].flatMap(encodeBase64);
  return [...inBase64, hex, hex.toUpperCase(), decimal, octal];
}

function encodeBase64(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const all = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const sharesLastCharacter = (offset + bytes.length) % 3 !== 0;
    return all.slice([0, 2, 3][offset], sharesLastCharacter ? -1 : undefined);
  });
}
