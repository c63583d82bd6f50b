import { visibleText } from '../core/visible-text.js';
import { mapTexts } from '../map-texts.js';
import { secretsOfEnvFiles } from './env-files.js';
import type { Find, Found } from './found.js';
import { createKnownIndex } from './known-index.js';
import { type KnownValue, secretsAmong, type Variables } from './known-values.js';
import type { Masking } from './masks.js';
import { type Label, masksIn, redact } from './redact.js';
import { isRandom } from './secret-value.js';

/** Every text passes through this on its way out of self-heal (EV-9, EV-10). Every operation is idempotent. */
export interface Redactor extends Masking {
  /** Masks secrets recognized by name, place or shape, those of the environment, and those the detector finds once it is loaded. */
  text(text: string): string;
  /** Removes control sequences and invisible characters, then masks secrets, so that neither can hide one. */
  clean(text: string): string;
  /** Returns a copy of plain data in which each string is clean. Keys are kept unless they contain secrets themselves. */
  deep<T>(value: T): T;
  /** Loads the detector (180 KB of code), which is only needed once something has failed (CL-4). */
  load(): Promise<void>;
}

/** The environment that a redactor protects. */
export interface RedactorOptions {
  readonly env: Variables;
  /** The project whose `.env*` files are read, or null to read none. */
  readonly projectRoot: string | null;
}

/** Creates the redactor of a run; there is one per run. */
export async function createRedactor(options: RedactorOptions): Promise<Redactor> {
  const { env, projectRoot } = options;
  const ofFiles = projectRoot === null ? [] : await secretsOfEnvFiles(projectRoot);
  return redactorOf([...secretsAmong(env), ...ofFiles]);
}

/**
 * How many characters of cleaned texts are remembered. Keys, paths and ids recur thousands of times, and evidence is cleaned again with
 * each record that contains it.
 */
const mostRemembered = 16_000_000;

/** Creates a redactor that knows these values and learns each secret it masks. */
export function redactorOf(
  values: readonly KnownValue[],
  detector: () => Promise<Find> = loadDetector,
): Redactor {
  const index = createKnownIndex();
  for (const { name, value } of values) index.add(value, `value of ${name}`);
  let cleaned = new Map<string, string>();
  let remembered = 0;
  // A clean text may no longer be clean once another secret is known.
  const forget = () => {
    cleaned = new Map();
    remembered = 0;
  };
  const labels = createLabels((...learned) => {
    forget();
    index.add(...learned);
  });
  let others: readonly Find[] = [index.find];
  const text = (from: string): string => redact(from, others, labels);
  const clean = (from: string): string => {
    const known = cleaned.get(from);
    if (known !== undefined) return known;
    const memory = cleaned;
    const now = text(visibleText(from));
    // If this text taught a new secret, the secret may still be in the result, but `memory` is then no longer in use.
    memory.set(from, now).set(now, now);
    remembered += from.length + now.length;
    if (remembered > mostRemembered) forget();
    return now;
  };
  return {
    text,
    clean,
    masksIn: (from) => masksIn(from, others, labels),
    deep: (value) => mapTexts(value, clean, clean),
    load: async () => {
      if (others.length > 1) return;
      others = [index.find, await detector()];
      forget();
    },
  };
}

/**
 * Rules of the preset that are left out: one lets a comment in a text disable the others, which pages must not be able to do;
 * the others mask whole URLs, although agents need the host.
 */
const leftOut = /-(?:filter-comments|basicauth|database-connection-string)$/;

/**
 * Loads secretlint's recommended rules in about 10 ms; they then scan about 40 MB/s. We run the rules ourselves because
 * `lintSource` of `@secretlint/core` is asynchronous, although no text rule is, and obeys `secretlint-disable` in the text
 * being scanned.
 */
export async function loadDetector(): Promise<Find> {
  const { rules } = await import('@secretlint/secretlint-rule-preset-recommend');
  const scanners = rules.filter((rule) => !leftOut.test(rule.meta.id));
  return (text) => {
    const found: Found[] = [];
    for (const rule of scanners) {
      const kind = kindOf(rule.meta.id);
      const report = ({ range: [start, end] }: { range: readonly number[] }) =>
        void (start !== undefined && end !== undefined && end > start && found.push({ start, end, kind }));
      const context = {
        sharedOptions: {},
        createTranslator: () => () => '',
        ignore: () => undefined,
        report,
      };
      const source = { filePath: 'text', ext: '', contentType: 'text', content: text, hasBOM: false };
      type Rule = { create(context: unknown, options: object): { file?(source: unknown): unknown } };
      (rule as unknown as Rule).create(context, {}).file?.(source);
    }
    return found;
  };
}

/** `@secretlint/secretlint-rule-sendgrid` → `sendgrid key`. */
function kindOf(ruleId: string): string {
  const name = ruleId.replace(/^.*rule-/, '');
  if (name === 'privatekey') return 'private key';
  return name === 'github' || name === 'npm' || name === 'slack' ? `${name} token` : `${name} key`;
}

/** How many secrets get a number of their own. */
const mostLabels = 10_000;
/** Secrets of at least this length are masked wherever they appear from now on, even if nothing around them indicates a secret. */
const longEnough = 16;

/**
 * Numbers the secrets of each kind, so that a reader sees which masks hide the same one: `token`, `token 2`. Each long random
 * secret is passed to `remember` with its label.
 */
function createLabels(remember: (value: string, label: string) => void): Label {
  const labels = new Map<string, string>();
  const counts = new Map<string, number>();
  return ({ kind, value, label: given }) => {
    if (given !== undefined) return given;
    const known = labels.get(value);
    if (known !== undefined) return known;
    if (labels.size >= mostLabels) return kind;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const label = count === 1 ? kind : `${kind} ${count}`;
    labels.set(value, label);
    if (value.length >= longEnough && isRandom(value.replaceAll(/\s/g, ''))) remember(value, label);
    return label;
  };
}
