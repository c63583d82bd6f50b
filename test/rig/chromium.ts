import { launchOptions as ofThisMachine } from '../../scripts/browser.mjs';

/** `launchOptions` for a Playwright config, as source text, with the best browser of this machine for headless tests. */
export const launchOptions: string = JSON.stringify(ofThisMachine());
