import { readFileSync, statSync } from 'node:fs';
import type { CapturedScript } from '../../playwright/capture-format.js';
import { bounds } from '../bounds.js';

/** The scripts that a failing test's page ran, as the capture kept them. Never throws: one that cannot be read is not there. */
export class CapturedScripts {
  readonly #byUrl: ReadonlyMap<string, CapturedScript>;
  readonly #texts = new Map<string, string | null>();

  constructor(scripts: readonly CapturedScript[]) {
    this.#byUrl = new Map(scripts.map((script) => [script.url, script]));
  }

  /** The text of the script with this very URL (without its hash), or null. */
  script(url: string): string | null {
    return this.#read(this.#byUrl.get(url)?.file ?? null, bounds.script);
  }

  /** The text of that script's external map, or null. */
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
