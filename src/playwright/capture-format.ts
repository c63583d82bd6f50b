import type { ConsoleEntry, NetworkEntry, PageElement } from '../core/evidence.js';

/** What the capture inside a worker writes for one failing try of one test; `src/evidence/` reads it. */
export interface CaptureFile {
  schemaVersion: 1;
  /** Includes page errors; in chronological order. If there are too many, the newest are kept. */
  console: ConsoleEntry[];
  network: NetworkEntry[];
  pages: CapturedPage[];
  /** The scripts that the errors name, as far as they could be read; absent if there are none. */
  scripts?: CapturedScript[];
  /** The number of entries that were not kept, for `Evidence.cut`. */
  dropped: { console: number; network: number };
}

/** One page that was open at the failure. */
export interface CapturedPage {
  url: string;
  /** Absolute path of the screenshot, which lies next to the capture file, or null. */
  screenshot: string | null;
  ariaSnapshot: string | null;
  /** Why the screenshot or the snapshot is missing, or null. */
  error: string | null;
  /** Selector of the element that covers the one the test was waiting for; null if nothing covers it. */
  covered?: string | null;
  /** All elements with something that a locator can match (text, label, attributes); null if there are too many. */
  elements?: PageElement[] | null;
}

/** A script that a page ran, stored in files next to the capture file. */
export interface CapturedScript {
  /** Without its fragment. */
  url: string;
  /** Absolute path of the file with its text. */
  file: string;
  /** Absolute path of the file with the source map that the script names, or null. */
  map: string | null;
}
