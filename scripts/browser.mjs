// Finds a browser that really starts, or installs one, in this order: one that Playwright installed, a system headless shell (what
// Playwright itself uses for headless runs, and about three times as quick as a whole Chromium), a system Chrome or Chromium,
// Playwright's own download, Debian's package when we are root.
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
 * `launchOptions` for the suites of tests and benchmarks. SELF_HEAL_CHROMIUM names the browser, empty for Playwright's own; the
 * set-up sets it. Where nothing set it, a system browser is taken.
 */
export function launchOptions() {
  const executablePath = process.env.SELF_HEAL_CHROMIUM ?? systemBrowsers.find((path) => existsSync(path));
  return {
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox', '--disable-background-networking'],
  };
}

/** Gives the path of a system browser, or an empty text for the one that Playwright installed; throws when there is none. */
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
