// Finds a browser that actually starts, or installs one. In this order: the browser that Playwright installed, a system headless shell (which
// Playwright itself uses for headless runs, and which is about three times as fast as full Chromium), a system Chrome or Chromium, Playwright's
// own download, and Debian's package if run as root.
import { existsSync } from 'node:fs';
import process from 'node:process';

const debianShell = '/usr/bin/chromium-headless-shell';
const systemBrowsers = [
  debianShell,
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * Returns `launchOptions` for the suites of tests and benchmarks. SELF_HEAL_CHROMIUM, which the setup sets, is the path of the browser, or
 * empty for Playwright's own. If it is not set, a system browser is used.
 */
export function launchOptions() {
  const executablePath = process.env.SELF_HEAL_CHROMIUM ?? systemBrowsers.find((path) => existsSync(path));
  return {
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox', '--disable-background-networking'],
  };
}

/**
 * Returns the path of a system browser, or an empty string for the one that Playwright installed; throws if there is none. `run` installs one, with its
 * output in a log.
 */
export async function findBrowser(run, say) {
  const named = process.env.SELF_HEAL_CHROMIUM;
  if (named && (await starts(named))) return named;
  if (await starts()) return '';
  for (const path of systemBrowsers) {
    if (existsSync(path) && (await starts(path))) return path;
  }
  const why = 'no browser starts here, which the suites need: ';
  const download = ['playwright', 'install', '--only-shell', 'chromium'];
  const failed = run(`${why}downloading Playwright’s Chromium`, 'npx', download);
  if (failed === null && (await starts())) return '';
  if (failed !== null) say(failed);
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const packages = `${why}installing Debian’s chromium-headless-shell`;
    const left =
      run('asking Debian for its newest packages', 'apt-get', ['update', '-qq']) ??
      run(packages, 'apt-get', ['install', '-y', '-qq', 'chromium-headless-shell']);
    if (left === null && (await starts(debianShell))) return debianShell;
    if (left !== null) say(left);
  }
  throw new Error(
    'No browser could be found or installed. Install Chrome or Chromium, or run: npx playwright install --with-deps chromium',
  );
}

async function starts(executablePath) {
  const { chromium } = await import('@playwright/test');
  try {
    const browser = await chromium.launch({
      ...(executablePath ? { executablePath } : {}),
      args: ['--disable-background-networking'],
      chromiumSandbox: false,
    });
    await browser.close();
    return true;
  } catch {
    return false;
  }
}
