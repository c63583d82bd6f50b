import type { Page } from '@playwright/test';
import type { CapturedPage } from '../capture-format.js';
import { coveringElement } from './covering-element.js';
import { pageElements } from './page-elements.js';
import { capped, internalCall } from './internal-call.js';

/** With a longer limit, a hung page would push the test over its own timeout (seen with Playwright 1.50). */
const timeoutMs = 1_500;
const maxAria = 64 * 1024;

/** Where to write the screenshot, and the selector that the test was still waiting for. */
interface PageLook {
  readonly file: string;
  readonly waitedFor: string | null;
  /** Whether to read the elements of the page as well. */
  readonly withElements?: boolean;
}

/** Returns what is kept of a page before anything is captured. */
export function uncaptured(url: string): CapturedPage {
  return { url, screenshot: null, ariaSnapshot: null, error: null, covered: null, elements: null };
}

/**
 * Takes a page's screenshot and accessibility snapshot and checks what covers the element that the test was waiting for,
 * all in parallel. Reports what could not be captured in `captured.error`.
 */
export async function capturePage(
  page: Page,
  captured: CapturedPage,
  { file, waitedFor, withElements }: PageLook,
): Promise<void> {
  const timeout = timeoutMs;
  const picture = internalCall(page, () => page.screenshot({ path: file, timeout, scale: 'css' }));
  const aria = internalCall(page, () => page.locator('body').ariaSnapshot({ timeout }));
  const covering = waitedFor === null ? null : coveringElement(page, waitedFor);
  const elements = withElements ? pageElements(page, timeout) : null;
  const [pictured, snapshot, covered, read] = await Promise.allSettled([
    capped(picture, timeoutMs),
    capped(aria, timeoutMs),
    covering && capped(covering, timeoutMs),
    elements && capped(elements, timeoutMs),
  ]);
  if (read.status === 'fulfilled') captured.elements = read.value;
  if (covered.status === 'fulfilled') captured.covered = covered.value;
  if (pictured.status === 'fulfilled') captured.screenshot = file;
  if (snapshot.status === 'fulfilled') captured.ariaSnapshot = snapshot.value.slice(0, maxAria);
  const missing = [
    pictured.status === 'rejected' ? `no screenshot: ${reason(pictured.reason)}` : '',
    snapshot.status === 'rejected' ? `no accessibility snapshot: ${reason(snapshot.reason)}` : '',
  ].filter(Boolean);
  if (missing.length > 0) captured.error = missing.join('; ');
}

function reason(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.slice(0, 200);
}
