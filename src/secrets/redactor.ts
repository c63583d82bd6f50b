import { type Replacement, applyReplacements } from '../replacements.js';
import { visibleText } from '../visible-text.js';
import {
  wrapUnchanged,
  MASK_PLACEHOLDER,
  type SecretMatch,
  mapTexts,
  type DecodedText,
  decodeText,
  replacePieces,
} from './reading.js';
import { findTokens } from './detector.js';
import { findInContext } from './contexts.js';
import {
  createSecretIndex,
  isCommonInCode,
  type SecretIndex,
  type KnownValue,
  findSecretVariables,
  readEnvFileSecrets,
  listMaskableTexts,
} from './known-values.js';
import { isGenerated } from './secret-fields.js';

/** A range of a text and what replaces it: `[masked: github token]`. */
export type Mask = Replacement;

/** Finds the parts of a text to mask. A `Redactor` is one. */
export interface MaskFinder {
  /** Returns all masks in order, including those already in the text. */
  findMasks(text: string): readonly Mask[];
}

/** Masks every text that leaves self-heal (EV-9, EV-10). Every operation is idempotent. */
export interface Redactor extends MaskFinder {
  /** Masks secrets, and changes nothing else. */
  text(text: string): string;
  /** Removes control sequences and invisible characters as well, so that they cannot hide anything. */
  clean(text: string): string;
  /** Cleans each string and key in a copy of plain data. */
  deep<T>(value: T): T;
  /** From now on, masks these texts, which a test typed into secret fields, except words and short texts. */
  learn(typed: Iterable<string>): void;
  /** From now on, does not mask this id, which only looks like a secret. Has no effect if it contains a value from the environment. */
  exempt(id: string): void;
}

interface RedactorOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project whose `.env*` files are read, or null to read none. */
  readonly projectRoot: string | null;
}

/** Creates the only redactor of a run. */
export async function createRedactor({ env, projectRoot }: RedactorOptions): Promise<Redactor> {
  const fileSecrets = projectRoot === null ? [] : await readEnvFileSecrets(projectRoot);
  return createRedactorForValues([...findSecretVariables(env), ...fileSecrets]);
}

/** Returns a function that names the known secrets in a text: the values of the environment and of the project's `.env*` files, in any context. */
export async function createSecretNamer({
  env,
  projectRoot,
}: RedactorOptions): Promise<(text: string) => readonly string[]> {
  const fileSecrets = projectRoot === null ? [] : await readEnvFileSecrets(projectRoot);
  const index = createSecretIndex();
  const secrets = [...findSecretVariables(env), ...fileSecrets].filter((known) => !isCommonInCode(known));
  for (const { name, value } of secrets) index.add(value, `value of ${name}`);
  return (text) => [...new Set(index.find(decodeText(text)).map(({ label, kind }) => label ?? kind))];
}

/**
 * How many characters of cleaned texts the cache holds. Keys, paths and ids recur thousands of times, and evidence is cleaned again with each
 * record that contains it.
 */
const MAX_CACHED = 16_000_000;

/** Creates a redactor that knows these values and learns each generated secret that it masks. */
export function createRedactorForValues(values: readonly KnownValue[]): Redactor {
  const index = createSecretIndex();
  for (const { name, value } of values) index.add(value, `value of ${name}`);
  const exempted = new Set<string>();
  let cleaned = new Map<string, string>();
  let cachedCharacters = 0;
  let learned = 0;
  // A new secret may be part of a text that was clean before.
  const clearCache = () => {
    cleaned = new Map();
    cachedCharacters = 0;
  };
  const labels = createLabels((...learned) => {
    clearCache();
    index.add(...learned);
  });
  const text = (from: string): string => applyReplacements(from, findMasks(from, index, labels, exempted));
  const clean = (from: string): string => {
    const cached = cleaned.get(from);
    if (cached !== undefined) return cached;
    const cache = cleaned;
    const masked = text(visibleText(from));
    // If this text contained a new secret, the result may still show it; but then `clearCache` has replaced `cleaned`, and `cache` is the discarded map.
    cache.set(from, masked).set(masked, masked);
    cachedCharacters += from.length + masked.length;
    if (cachedCharacters > MAX_CACHED) clearCache();
    return masked;
  };
  return {
    text,
    clean,
    findMasks: (from) => findMasks(from, index, labels, exempted),
    deep: (value) => mapTexts(value, clean, clean),
    learn: (typed) => {
      for (const value of listMaskableTexts(typed)) {
        if (index.find(decodeText(value)).length > 0) continue;
        clearCache();
        index.add(value, `typed value${learned === 0 ? '' : ` ${learned + 1}`}`);
        learned += 1;
      }
    },
    exempt: (id) => {
      if (values.some(({ value }) => id.includes(value))) return;
      clearCache();
      exempted.add(id);
    },
  };
}

/** Masks secrets that are recognizable by their format, so the result does not depend on the environment. */
export function redact(text: string): string {
  return applyReplacements(text, findMasks(text));
}

/** A secret, and its decoded value. */
interface Secret extends SecretMatch {
  readonly value: string;
}

/** Returns the label of a secret's mask. */
type Label = (secret: Secret) => string;

/** Masking may uncover another secret. Only text crafted to do so needs more rounds than this. */
const MAX_ROUNDS = 5;

function findMasks(
  text: string,
  index?: SecretIndex,
  label: Label = ({ kind }) => kind,
  exempted: ReadonlySet<string> = new Set(),
): readonly Mask[] {
  let masks = findExistingMasks(text, index);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const secrets = findSecrets(
      replacePieces(
        wrapUnchanged(text),
        masks.map((mask) => ({ ...mask, text: MASK_PLACEHOLDER })),
      ),
      index,
    ).filter(({ value }) => !exempted.has(value));
    if (secrets.length === 0) break;
    const newMasks = secrets.map((secret): Mask => ({
      start: secret.start,
      end: secret.end,
      text: `[masked: ${label(secret)}]`,
    }));
    masks = keepOutermost([...masks, ...newMasks]);
  }
  return masks;
}

/** Finds the masks already in a text, from this run or an earlier one. Skips text in the form of a mask that contains a secret. */
function findExistingMasks(text: string, index?: SecretIndex): Mask[] {
  if (!text.includes('[masked: ') && !text.includes(MASK_PLACEHOLDER)) return [];
  return [...text.matchAll(/\[masked: (?<label>[\w .-]{1,80})\]|\ufdd0/g)]
    .filter(({ groups }) => findSecrets(wrapUnchanged(groups?.['label'] ?? ''), index).length === 0)
    .map(({ 0: mask, index: start }) => ({
      start,
      end: start + mask.length,
      text: mask === MASK_PLACEHOLDER ? '' : mask,
    }));
}

/** Drops masks within other masks. */
function keepOutermost(masks: readonly Mask[]): Mask[] {
  const all: Mask[] = [];
  for (const mask of masks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (mask.start >= (all.at(-1)?.end ?? 0)) all.push(mask);
  }
  return all;
}

/** Finds every secret, in the text as written and as decoded. Joins overlapping ones; the longest determines the kind. */
function findSecrets(original: DecodedText, index?: SecretIndex): Secret[] {
  const decoded = decodeText(original.text);
  const matches = [
    ...(index?.find(decoded) ?? []).map((match) => toSecret(match, decoded)),
    ...[...new Set([original.text, decoded.text])].flatMap((text) =>
      [...findTokens(text), ...findInContext(text)].map((match) =>
        toSecret(match, text === decoded.text ? decoded : wrapUnchanged(text)),
      ),
    ),
  ];
  const all: Secret[] = [];
  for (const secret of matches.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (secret.value.replaceAll(MASK_PLACEHOLDER, '').trim() === '') continue;
    const [start, end] = original.toOriginalRange(secret.start, secret.end);
    const last = all.at(-1);
    if (last === undefined || start >= last.end) all.push({ ...secret, start, end });
    else if (end > last.end) {
      const longer = end - start > last.end - last.start ? secret : last;
      all[all.length - 1] = { ...longer, start: last.start, end };
    }
  }
  return all;
}

function toSecret(match: SecretMatch, reading: DecodedText): Secret {
  const [start, end] = reading.toOriginalRange(match.start, match.end);
  return { ...match, start, end, value: reading.text.slice(match.start, match.end) };
}

/** Returns the range `[from, to)` of a text with its masks applied. Omits a mask that begins before `from`, since the previous range has it. */
export function maskRange(
  text: string,
  masks: readonly Mask[],
  { from, to }: { from: number; to: number },
): string {
  const parts: string[] = [];
  let at = from;
  for (const { start, end, text: mask } of masks) {
    if (end <= from || start >= to) continue;
    parts.push(text.slice(at, start), start < from ? '' : mask);
    at = end;
  }
  return parts.join('') + text.slice(at, to);
}

/** How many secrets get their own number. */
const MAX_LABELS = 10_000;
/** From their first mask on, generated secrets of at least this length are masked everywhere, even where nothing else indicates a secret. */
const MIN_LEARNED_LENGTH = 16;

/**
 * Numbers the secrets of each kind, so that a reader sees which masks hide the same one: `token`, `token 2`. Passes each long generated secret
 * to `learn` with its label.
 */
function createLabels(learn: (value: string, label: string) => void): Label {
  const labels = new Map<string, string>();
  const counts = new Map<string, number>();
  return ({ kind, value, label: knownLabel }) => {
    if (knownLabel !== undefined) return knownLabel;
    const earlierLabel = labels.get(value);
    if (earlierLabel !== undefined) return earlierLabel;
    if (labels.size >= MAX_LABELS) return kind;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const label = count === 1 ? kind : `${kind} ${count}`;
    labels.set(value, label);
    if (value.length >= MIN_LEARNED_LENGTH && isGenerated(value.replaceAll(/\s/g, ''))) learn(value, label);
    return label;
  };
}
