import { readFileSync, statSync } from 'node:fs';
import { oncePerKey } from '../../once-per-key.js';
import type { CapturedScript } from '../../playwright/capture-format.js';
import { bounds } from '../bounds.js';

/** The scripts that the capture kept from a failing test's pages. A script that cannot be read counts as absent. */
export interface CapturedScripts {
  readonly urls: readonly string[];
  /** Returns the text of the script with exactly this URL (without its fragment), or null. */
  script(url: string): string | null;
  /** Returns the text of the external map of the script with this URL, or null. */
  map(url: string): string | null;
}

/** Reads captured scripts when they are first asked for. Never throws. */
export function capturedScripts(scripts: readonly CapturedScript[]): CapturedScripts {
  const byUrl = new Map(scripts.map((script) => [script.url, script]));
  const text = oncePerKey(textOf);
  return {
    urls: [...byUrl.keys()],
    script: (url) => text(byUrl.get(url)?.file ?? ''),
    map: (url) => text(byUrl.get(url)?.map ?? ''),
  };
}

function textOf(file: string): string | null {
  try {
    return statSync(file).size > bounds.sourceMap ? null : readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
