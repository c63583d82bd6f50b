import type { ConsoleEntry, NetworkEntry, PageElement, TestStep } from '../model/evidence.js';

/** How many console entries and requests to keep per failure. */
export interface EvidenceLimits {
  readonly console: number;
  readonly network: number;
}

/** A screenshot of the page: an existing file, or bytes from a trace. */
export type ScreenshotSource =
  { readonly kind: 'file'; readonly path: string } | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** The page as a trace shows it. Requests are not cleaned yet. */
export interface PageEvidence {
  /** Not cleaned yet; their positions have absolute paths. */
  readonly steps: readonly TestStep[];
  readonly console: readonly ConsoleEntry[];
  readonly network: readonly NetworkEntry[];
  readonly screenshot: ScreenshotSource | null;
  /** The URL of the page at the failure; null if the trace shows none. */
  readonly pageUrl: string | null;
  /** The elements of that page; null if they are too many. */
  readonly elements: readonly PageElement[] | null;
  /** Playwright's log of the action at which the test failed. */
  readonly log: readonly string[];
}
