import path from 'node:path';
import { listSuite, type SuitePlace } from '../list-suite.js';

/** Options for Playwright's `use` that start the same browser as the project does. */
export interface SelfTestBrowser {
  readonly browserName: string;
  readonly channel?: string;
  readonly headless: true;
  readonly launchOptions?: Readonly<Record<string, unknown>>;
}

/** Where the project is, and what it runs with; `config` is null if it has none. */
type BrowserPlace = Omit<SuitePlace, 'config'> & { readonly config: string | null };

/** Options that would show the browser, slow it down, or send the self-test's pages through a proxy. */
const unwanted = new Set(['headless', 'slowMo', 'devtools', 'proxy']);

/**
 * Returns how the first project of the user's suite starts its browser on this machine; Playwright's own Chromium if there is no config,
 * it cannot be listed, or all browsers are started elsewhere.
 */
export async function selfTestBrowser(place: BrowserPlace): Promise<SelfTestBrowser> {
  const { config } = place;
  const { listed } = config === null ? { listed: null } : await listSuite({ ...place, config });
  const own = listed?.browsers.find(({ isRemote }) => !isRemote);
  if (!own) return { browserName: 'chromium', headless: true };
  const { browserName, channel, launchOptions } = own;
  return {
    browserName,
    ...(channel === undefined ? {} : { channel }),
    headless: true,
    ...(launchOptions ? { launchOptions: wanted(launchOptions, place.cwd) } : {}),
  };
}

function wanted(options: Record<string, unknown>, cwd: string): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(options).filter(([name]) => !unwanted.has(name)));
  const { executablePath } = kept;
  // The self-test runs in another folder.
  if (typeof executablePath === 'string' && /[\\/]/.test(executablePath)) {
    return { ...kept, executablePath: path.resolve(cwd, executablePath) };
  }
  return kept;
}
