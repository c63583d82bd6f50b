// Finds a browser that actually starts, or installs one. In this order: the browser that Playwright installed, a system headless shell (which
// Playwright itself uses for headless runs, and which is about three times as fast as full Chromium), a system Chrome or Chromium, Playwright's
// own download, and Debian's package if run as root.
import { execFileSync } from 'node:child_process';
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
 * Returns `launchOptions` for the suites of tests and benchmarks. SELF_HEAL_CHROMIUM, which the set-up sets, is the path of the browser, or
 * empty for Playwright's own. If it is not set, a system browser is used.
 */
export function launchOptions() {
  const executablePath = process.env.SELF_HEAL_CHROMIUM ?? systemBrowsers.find((path) => existsSync(path));
  return {
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox', '--disable-background-networking'],
  };
}

/** Returns the path of a system browser, or an empty string for the one that Playwright installed; throws if there is none. */
export async function findBrowser(say) {
  const named = process.env.SELF_HEAL_CHROMIUM;
  if (named && (await starts(named))) return named;
  if (await starts()) return '';
  for (const path of systemBrowsers) {
    if (existsSync(path) && (await starts(path))) return path;
  }
  say('no browser found; trying Playwright’s own download');
  if (run('npx', ['playwright', 'install', '--only-shell', 'chromium']) && (await starts())) return '';
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say('installing Debian’s chromium-headless-shell');
    run('apt-get', ['update', '-qq']);
    run('apt-get', ['install', '-y', '-qq', 'chromium-headless-shell']);
    if (await starts(debianShell)) return debianShell;
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

function run(command, args) {
  try {
    execFileSync(command, args, { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
    return true;
  } catch {
    return false;
  }
}
