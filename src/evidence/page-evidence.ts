import type { ConsoleEntry, NetworkEntry, PageElement } from '../core/evidence.js';
import type { CapturedScript } from '../playwright/capture-format.js';

/** How many console entries and requests are kept of one failure. */
export interface EvidenceLimits {
  readonly console: number;
  readonly network: number;
}

/** A picture of the page: a file that lies somewhere, or bytes out of a trace. */
export type ScreenshotSource =
  { readonly kind: 'file'; readonly path: string } | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** What one source (the capture, or a trace) knows of the page. Requests are not yet cleaned. */
export interface PageEvidence {
  readonly console: readonly ConsoleEntry[];
  readonly network: readonly NetworkEntry[];
  readonly screenshot: ScreenshotSource | null;
  /** Why there is no screenshot, where the source says so. */
  readonly noScreenshotBecause: string | null;
  readonly ariaSnapshot: string | null;
  readonly pageUrl: string | null;
  /** What lies over the element that the test waited for, as a selector; none in a trace. */
  readonly covered?: string | null;
  /** The elements of the page; none in a trace. */
  readonly elements?: readonly PageElement[] | null;
  /** Scripts that the errors name; none in a trace. */
  readonly scripts?: readonly CapturedScript[];
}
