import { bounds } from './bounds.js';
import { cleanText } from './clean-text.js';
import { clipMiddle } from './clip.js';
import { reasonOf } from '../reason-of.js';

/**
 * Collects, in words, what of the evidence is missing and what was cut; each sentence once. It goes wherever text is
 * gathered, and so carries the way in which this gathering cleans it.
 */
export class MissingEvidence {
  readonly #missing = new Set<string>();
  readonly #cut = new Set<string>();
  readonly clean: (text: string) => string;

  /** `clean` is a `Redactor`'s; without one, what belongs to this environment is not known. */
  constructor(clean: (text: string) => string = cleanText) {
    this.clean = clean;
  }

  miss(sentence: string): void {
    this.#missing.add(this.#note(sentence));
  }

  cut(sentence: string): void {
    this.#cut.add(this.#note(sentence));
  }

  get missing(): string[] {
    return [...this.#missing];
  }

  get cuts(): string[] {
    return [...this.#cut];
  }

  #note(sentence: string): string {
    return clipMiddle(this.clean(clipMiddle(sentence, bounds.note * 4).text), bounds.note).text;
  }

  /** Runs one part of the gathering; where it throws, that part alone is missing (EV-12) and the result is null. */
  async attempt<T>(what: string, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.miss(`${what}: ${firstLineOf(error)}`);
      return null;
    }
  }
}

/** The first line of whatever was thrown. */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).split('\n', 1)[0] ?? '';
}
