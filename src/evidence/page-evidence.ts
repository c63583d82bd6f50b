import type { ConsoleEntry, NetworkEntry, PageElement } from '../core/evidence.js';
import type { CapturedScript } from '../playwright/capture-format.js';

/** How many console entries and requests to keep for one failure. */
export interface EvidenceLimits {
  readonly console: number;
  readonly network: number;
}

/** A screenshot of the page: an existing file, or bytes from a trace. */
export type ScreenshotSource =
  { readonly kind: 'file'; readonly path: string } | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** What one source (the capture or a trace) knows about the page. Requests are not cleaned yet. */
export interface PageEvidence {
  readonly console: readonly ConsoleEntry[];
  readonly network: readonly NetworkEntry[];
  readonly screenshot: ScreenshotSource | null;
  /** Why there is no screenshot, if the source says so. */
  readonly noScreenshotBecause: string | null;
  readonly ariaSnapshot: string | null;
  readonly pageUrl: string | null;
  /** Selector of what covers the element that the test was waiting for; a trace has none. */
  readonly covered?: string | null;
  /** The elements of the page; a trace has none. */
  readonly elements?: readonly PageElement[] | null;
  /** Scripts that the errors name; a trace has none. */
  readonly scripts?: readonly CapturedScript[];
}
