import { z } from 'zod';
import { consoleEntry, networkEntry, pageElement, text, textOrNull } from './entry-shapes.js';

/** One page that was open at the failure. */
const page = z.object({
  url: text,
  /** Absolute path of the screenshot, which lies next to the capture file, or null. */
  screenshot: textOrNull,
  ariaSnapshot: textOrNull,
  /** Why the screenshot or the snapshot is missing, or null. */
  error: textOrNull,
  /** Selector of the element that covers the one the test was waiting for; null if nothing covers it. */
  covered: textOrNull,
  /** All elements with something that a locator can match (text, label, attributes); null if there are too many. */
  elements: z.array(pageElement).nullable().catch(null),
});

/** A script that a page ran, stored in files next to the capture file. */
const script = z.object({
  /** Without its fragment. */
  url: text,
  /** Absolute path of the file with its text. */
  file: text,
  /** Absolute path of the file with the source map that the script names, or null. */
  map: textOrNull,
});

const count = z.number().catch(0);

/** What the capture inside a worker writes for one failing try of one test; `src/evidence/` reads it. */
export const captureShape = z.object({
  schemaVersion: z.literal(1),
  /** Includes page errors; in chronological order. If there are too many, the newest are kept. */
  console: z.array(consoleEntry).catch([]),
  network: z.array(networkEntry).catch([]),
  pages: z.array(page).catch([]),
  /** The scripts that the errors name, as far as they could be read. */
  scripts: z.array(script).catch([]),
  /** The number of entries that were not kept, for `Evidence.cut`. */
  dropped: z.object({ console: count, network: count }).catch({ console: 0, network: 0 }),
});

/** What `captureShape` describes. */
export type CaptureFile = z.infer<typeof captureShape>;
export type CapturedPage = CaptureFile['pages'][number];
export type CapturedScript = CaptureFile['scripts'][number];
