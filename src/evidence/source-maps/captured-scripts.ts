import { readFileSync, statSync } from 'node:fs';
import type { CapturedScript } from '../../playwright/capture-format.js';
import { bounds } from '../bounds.js';

/**
 * The scripts that the capture kept from a failing test's pages. Never throws: a script that cannot be read counts as
 * absent.
 */
export class CapturedScripts {
  readonly #byUrl: ReadonlyMap<string, CapturedScript>;
  readonly #texts = new Map<string, string | null>();

  constructor(scripts: readonly CapturedScript[]) {
    this.#byUrl = new Map(scripts.map((script) => [script.url, script]));
  }

  /** Returns the text of the script with exactly this URL (without its fragment), or null. */
  script(url: string): string | null {
    return this.#read(this.#byUrl.get(url)?.file ?? null, bounds.script);
  }

  /** Returns the text of the external map of the script with this URL, or null. */
  map(url: string): string | null {
    return this.#read(this.#byUrl.get(url)?.map ?? null, bounds.sourceMap);
  }

  get urls(): string[] {
    return [...this.#byUrl.keys()];
  }

  #read(file: string | null, mostBytes: number): string | null {
    if (file === null) return null;
    const known = this.#texts.get(file);
    if (known !== undefined) return known;
    const text = textOf(file, mostBytes);
    this.#texts.set(file, text);
    return text;
  }
}

function textOf(file: string, mostBytes: number): string | null {
  try {
    return statSync(file).size > mostBytes ? null : readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
