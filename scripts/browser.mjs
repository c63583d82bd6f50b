// Finds a browser that really starts, or installs one, in this order: one that Playwright installed, a system Chrome or
// Chromium, Playwright's own download, Debian's package when we are root.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';

const systemBrowsers = [
  process.env.SELF_HEAL_CHROMIUM,
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

/** Gives the path of a system browser, or null for the one that Playwright installed; throws when there is none. */
export async function findBrowser(say) {
  if (await starts()) return null;
  for (const path of systemBrowsers) {
    if (path && existsSync(path) && (await starts(path))) return path;
  }
  say('no browser found; trying Playwright’s own download');
  if (run('npx', ['playwright', 'install', 'chromium']) && (await starts())) return null;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say('installing Debian’s chromium');
    run('apt-get', ['update', '-qq']);
    run('apt-get', ['install', '-y', '-qq', 'chromium']);
    if (await starts('/usr/bin/chromium')) return '/usr/bin/chromium';
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
