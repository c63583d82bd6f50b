import { visibleText } from '../core/visible-text.js';
import { mapTexts } from '../map-texts.js';
import { secretsOfEnvFiles } from './env-files.js';
import type { Find, Found } from './found.js';
import { createKnownIndex } from './known-index.js';
import { type KnownValue, secretsAmong, type Variables } from './known-values.js';
import type { Masking } from './masks.js';
import { type Label, masksIn, redact } from './redact.js';
import { isRandom } from './secret-value.js';

/** What every text passes on its way out of self-heal (EV-9, EV-10). Doing any of it twice changes nothing. */
export interface Redactor extends Masking {
  /** Masks secrets: by name, place and shape, those of the environment, and what the detector finds once it is loaded. */
  text(text: string): string;
  /** Masks secrets in a text that is made safe to show first; the same for what hides in it. */
  clean(text: string): string;
  /** Plain data in which each string is clean, copied where it was not; keys are kept, but for those that hold secrets themselves. */
  deep<T>(value: T): T;
  /** Loads the detector, 180 KB of code: for when something failed (CL-4). */
  load(): Promise<void>;
}

/** What a redactor knows of where it runs. */
export interface RedactorOptions {
  readonly env: Variables;
  /** The project, whose `.env*` files are read; null reads none. */
  readonly projectRoot: string | null;
}

/** Makes the one redactor of a run. */
export async function createRedactor(options: RedactorOptions): Promise<Redactor> {
  const { env, projectRoot } = options;
  const ofFiles = projectRoot === null ? [] : await secretsOfEnvFiles(projectRoot);
  return redactorOf([...secretsAmong(env), ...ofFiles]);
}

/** Texts that are kept with what became of them: so long, in characters, and so many. */
const longestKept = 256;
const mostKept = 50_000;
/** Longer ones that came out clean are known, so many: what was gathered is cleaned again with each record that holds it. */
const mostKnown = 500;

/** A redactor that knows these values, and every secret that it has masked. */
export function redactorOf(
  values: readonly KnownValue[],
  detector: () => Promise<Find> = loadDetector,
): Redactor {
  const index = createKnownIndex();
  for (const { name, value } of values) index.add(value, `value of ${name}`);
  // Keys, paths and ids come again thousands of times. What was clean need not be so once another secret is known.
  let cleaned = new Map<string, string>();
  let known = new Set<string>();
  const forget = () => {
    cleaned = new Map();
    known = new Set();
  };
  const labels = createLabels((...learned) => {
    forget();
    index.add(...learned);
  });
  let others: readonly Find[] = [index.find];
  const text = (from: string): string => redact(from, others, labels);
  const cleanLong = (from: string): string => {
    const before = known;
    if (before.has(from)) return from;
    const now = text(visibleText(from));
    if (before.size >= mostKnown) before.clear();
    // As below, where it taught a secret.
    before.add(now);
    return now;
  };
  const clean = (from: string): string => {
    if (from.length > longestKept) return cleanLong(from);
    const kept = cleaned;
    const before = kept.get(from);
    if (before !== undefined) return before;
    const now = text(visibleText(from));
    // Where it taught a secret, that may stand in it once more: it is kept by a map that is not looked at any longer.
    if (kept.size >= mostKept) kept.clear();
    kept.set(from, now === from ? from : now);
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
 * Rules of the preset that are left out: the one that lets a comment in a text switch the others off, which is not for texts
 * that pages write, and those that take a whole URL for a secret, of which agents need the host.
 */
const leftOut = /-(?:filter-comments|basicauth|database-connection-string)$/;

/**
 * Loads secretlint's recommended rules: some 10 ms, and then about 40 MB a second. The rules are driven here and not by
 * `lintSource` of `@secretlint/core`, which is asynchronous though no rule for texts is, and obeys
 * `secretlint-disable` in the text that it looks at.
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

/** A flood of secrets is told apart no further than this. */
const mostLabels = 10_000;
/** A secret as long as this is masked from now on wherever it stands, also where nothing says what it is. */
const longEnough = 16;

/**
 * Numbers the secrets of a kind as they come, so that a reader sees which masks hide the same one: `token`, `token 2`. What was
 * found once is told to `remember`, with what its mask says.
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
