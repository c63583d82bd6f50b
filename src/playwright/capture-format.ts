import type { ConsoleEntry, NetworkEntry, PageElement } from '../core/evidence.js';

/** What the in-worker capture writes for one failing try of one test; read by `src/evidence/`. */
export interface CaptureFile {
  schemaVersion: 1;
  /** Page errors included, in order of time, the newest kept. */
  console: ConsoleEntry[];
  network: NetworkEntry[];
  pages: CapturedPage[];
  /** Scripts that the errors name, where they could be had; absent in captures without any. */
  scripts?: CapturedScript[];
  /** How many entries were not kept, for `Evidence.cut`. */
  dropped: { console: number; network: number };
}

/** One page that was open at the failure. */
export interface CapturedPage {
  url: string;
  /** Absolute path of the picture, beside the capture file, or null. */
  screenshot: string | null;
  ariaSnapshot: string | null;
  /** Why a picture or a snapshot is missing, or null. */
  error: string | null;
  /** The element that lies over the one which the test waited for, as a selector; null where none does. */
  covered?: string | null;
  /** All elements that locators can tell by something; null where they are too many. */
  elements?: PageElement[] | null;
}

/** A script that a page ran, in files beside the capture file. */
export interface CapturedScript {
  /** Without its hash. */
  url: string;
  /** Absolute path of its text. */
  file: string;
  /** Absolute path of the source map that it names, or null. */
  map: string | null;
}
