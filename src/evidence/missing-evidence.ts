import { bounds } from './bounds.js';
import { cleanText } from './clean.js';
import { clipMiddle } from './bounded-text.js';
import { reasonOf } from '../problem.js';

/**
 * Collects sentences about what is missing from the evidence and what was cut, each once. It is passed to everything
 * that gathers text, so it also carries the function that cleans it.
 */
export class MissingEvidence {
  readonly #missing = new Set<string>();
  readonly #cut = new Set<string>();
  readonly clean: (text: string) => string;

  /** `clean` is `Redactor.clean`; without it, secrets of the current environment are not known. */
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

  /** Runs one part of the gathering. If it throws, records only that part as missing (EV-12) and returns null. */
  async attempt<T>(what: string, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.miss(`${what}: ${firstLineOf(error)}`);
      return null;
    }
  }
}

/** Returns the first line of the message of whatever was thrown. */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).split('\n', 1)[0] ?? '';
}
