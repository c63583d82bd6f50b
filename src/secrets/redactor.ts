import { visibleText } from '../core/visible-text.js';
import { mapTexts } from '../map-texts.js';
import { loadDetector } from './detector.js';
import { secretsOfEnvFiles } from './env-files.js';
import type { Find } from './found.js';
import { createKnownIndex } from './known-index.js';
import { secretsAmong, type KnownValue, type Variables } from './known-values.js';
import { createLabels } from './labels.js';
import type { Masking } from './masks.js';
import { masksIn, redact } from './redact.js';

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
