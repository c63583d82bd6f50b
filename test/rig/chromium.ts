import { launchOptions as findLaunchOptions } from '../../scripts/browser.mjs';

/** `launchOptions` as source text for a Playwright config, with the best installed browser for headless tests. */
export const launchOptions: string = JSON.stringify(findLaunchOptions());
