import type { BrowserContext, Page } from '@playwright/test';

/**
 * Makes `page.pause()` do nothing in a headed browser, as it does in a headless one. Otherwise it would open the
 * inspector, disable the test's timeout and wait for a user forever.
 */
export function passOverPauses(context: BrowserContext): void {
  for (const page of context.pages()) passOver(page);
  context.on('page', passOver);
}

function passOver(page: Page): void {
  page.pause = async () => undefined;
}
