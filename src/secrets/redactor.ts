import { visibleText } from '../core/visible-text.js';
import { loadDetector, type Detect } from './detector.js';
import { secretsOfEnvFiles } from './env-files.js';
import { knownValueMask, secretsAmong, type KnownValue, type Variables } from './known-values.js';
import { withMasks } from './masks.js';
import { redact } from './redact.js';

/** What every text passes on its way out of self-heal (EV-9, EV-10). Doing any of it twice changes nothing. */
export interface Redactor {
  /** Masks secrets: by name, place and shape, those of the environment, and what the detector finds once it is loaded. */
  text(text: string): string;
  /** Masks secrets in a text that is made safe to show first; the same for what hides in it. */
  clean(text: string): string;
  /** A copy of plain data in which each string is clean; keys are kept, but for those that hold secrets themselves. */
  deep<T>(value: T): T;
  /** Loads the detector, 180 KB of code: for when something failed (CL-4). */
  load(): Promise<void>;
}

/** What a redactor knows of where it runs. */
export interface RedactorOptions {
  readonly env: Variables;
  /** The project, whose `.env*` files are read; null reads none. */
  readonly projectRoot: string | null;
  /** In place of secretlint, for tests. */
  readonly detector?: () => Promise<Detect>;
}

/** Makes the one redactor of a run. */
export async function createRedactor(options: RedactorOptions): Promise<Redactor> {
  const { env, projectRoot, detector = loadDetector } = options;
  const ofFiles = projectRoot === null ? [] : await secretsOfEnvFiles(projectRoot);
  return redactorOf([...secretsAmong(env), ...ofFiles], detector);
}

/** A redactor that knows these values. */
export function redactorOf(
  known: readonly KnownValue[],
  detector: () => Promise<Detect> = loadDetector,
): Redactor {
  const maskKnown = knownValueMask(known);
  let detect: Detect | null = null;
  const text = (from: string): string => {
    const redacted = redact(from, detect);
    return maskKnown === null
      ? redacted
      : withMasks(redacted, (opaque, mask) => maskKnown(opaque, (name) => mask(`value of ${name}`)));
  };
  const clean = (from: string): string => text(visibleText(from));
  return {
    text,
    clean,
    deep: (value) => deepCopy(value, clean) as typeof value,
    load: async () => {
      detect ??= await detector();
    },
  };
}

function deepCopy(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((one) => deepCopy(one, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [clean(key), deepCopy(one, clean)]));
}
