import type { ListedBrowser } from './list-projects.js';

// A script: node start-browsers.cjs <folder of Playwright's package> <browsers as JSON>. Starts each browser as a project
// would, closes it again, and writes a line of JSON about it.

async function main(packageDir: string, browsers: readonly ListedBrowser[]): Promise<void> {
  const playwright = require(packageDir) as typeof import('@playwright/test');
  for (const { browserName, channel, headless, launchOptions } of browsers) {
    const options = {
      ...(channel ? { channel } : {}),
      ...(headless === undefined ? {} : { headless }),
      ...launchOptions,
    };
    try {
      const browser = await playwright[browserName as 'chromium' | 'firefox' | 'webkit'].launch(options);
      const version = browser.version();
      await browser.close();
      say({ version, error: null });
    } catch (error) {
      say({ version: null, error: error instanceof Error ? error.message : String(error) });
    }
  }
}

function say(started: { version: string | null; error: string | null }): void {
  process.stdout.write(`\nself-heal-started: ${JSON.stringify(started)}\n`);
}

const [, , packageDir = '', browsers = '[]'] = process.argv;
void main(packageDir, JSON.parse(browsers) as ListedBrowser[]);
