import { existsSync } from 'node:fs';

/** `launchOptions` for a Playwright config, as source text: a Chromium of this machine, else Playwright's own. */
export const launchOptions: string = JSON.stringify({
  ...executable(),
  args: ['--no-sandbox', '--disable-background-networking'],
});

function executable(): { executablePath?: string } {
  const places = [process.env['SELF_HEAL_CHROMIUM'] ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'];
  const executablePath = places.find((place) => place !== '' && existsSync(place));
  return executablePath ? { executablePath } : {};
}
