import type { BrowserContext, Page } from '@playwright/test';

/**
 * Has `page.pause()` do in a headed browser what it does in a headless one: nothing. There it would open the inspector, take the
 * test's time-out away and wait for somebody for ever.
 */
function passOverPauses(context: BrowserContext): void {
  for (const page of context.pages()) passOver(page);
  context.on('page', passOver);
}

function passOver(page: Page): void {
  page.pause = async () => undefined;
}

const api = { passOverPauses };
module.exports = api;
export type Api = typeof api;
