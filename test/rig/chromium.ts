import { launchOptions as ofThisMachine } from '../../scripts/browser.mjs';

/** `launchOptions` for a Playwright config, as source text: the browser of this machine that suits headless tests best. */
export const launchOptions: string = JSON.stringify(ofThisMachine());
