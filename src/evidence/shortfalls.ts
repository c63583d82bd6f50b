import { bounds } from './bounds.js';
import { cleanText } from './clean-text.js';
import { clipMiddle } from './clip.js';

/** Collects, in words, what of the evidence is missing and what was cut; each sentence once. */
export class Shortfalls {
  readonly #missing = new Set<string>();
  readonly #cut = new Set<string>();

  miss(sentence: string): void {
    this.#missing.add(asNote(sentence));
  }

  cut(sentence: string): void {
    this.#cut.add(asNote(sentence));
  }

  get missing(): string[] {
    return [...this.#missing];
  }

  get cuts(): string[] {
    return [...this.#cut];
  }

  /** Runs one part of the gathering; where it throws, that part alone is missing (EV-12) and the result is null. */
  async attempt<T>(what: string, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.miss(`${what}: ${reasonOf(error)}`);
      return null;
    }
  }
}

/** The first line of whatever was thrown. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}

function asNote(sentence: string): string {
  return clipMiddle(cleanText(clipMiddle(sentence, bounds.note * 4).text), bounds.note).text;
}
