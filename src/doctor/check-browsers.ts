import path from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { stripAnsi } from '../core/classify/strip-ansi.js';
import { packageManagerOf } from '../playwright/package-manager.js';
import { bad, doubtful, good, type Check } from './check.js';
import type { ListedBrowser } from '../playwright/list-format.js';
import type { SuitePlace } from './list-suite.js';
import { markedLines } from './marked-lines.js';
import { probe } from './probe.js';

const startedShape = z.object({ version: z.string().nullable(), error: z.string().nullable() });

/** Starts every browser that the suite's projects use, once per distinct launch configuration. */
export async function checkBrowsers(browsers: readonly ListedBrowser[], place: SuitePlace): Promise<Check[]> {
  const different = [...new Map(browsers.map((one) => [JSON.stringify(one), one])).values()];
  const local = different.filter(({ isRemote }) => !isRemote);
  const remote = different
    .filter(({ isRemote }) => isRemote)
    .map((one) =>
      doubtful(
        'browser',
        `${nameOf(one)} runs elsewhere`,
        'Make sure that it is reachable, which was not checked.',
      ),
    );
  if (local.length === 0) return remote;
  const script = path.join(place.injectDir, 'start-browsers.cjs');
  const argv = [process.execPath, script, place.playwright.packageDir, JSON.stringify(local)];
  const { output } = await probe(argv, place);
  const started = markedLines(output, 'self-heal-started').map((one) => startedShape.parse(one));
  return [...local.map((one, index) => checkOf(one, started[index], place.cwd)), ...remote];
}

function checkOf(
  browser: ListedBrowser,
  started: z.infer<typeof startedShape> | undefined,
  cwd: string,
): Check {
  const name = nameOf(browser);
  if (started?.version) return good('browser', `${name} ${started.version}`);
  const error = stripAnsi(started?.error ?? 'it did not start');
  return bad('browser', `${name}: ${shortened(error)}`, remedyFor(error, browser, cwd));
}

function nameOf({ browserName, channel }: ListedBrowser): string {
  return channel === undefined ? browserName : `${browserName} (${channel})`;
}

/** Returns the first line of Playwright's message, without the name of the call. */
function shortened(error: string): string {
  const [line = ''] = error.replace(/^\w+\.launch: /, '').split('\n');
  return line.trim().slice(0, 200);
}

function remedyFor(error: string, { browserName, channel }: ListedBrowser, cwd: string): string {
  const { exec } = packageManagerOf(cwd);
  const wanted = channel ?? browserName;
  if (/Failed to launch \w+ because executable doesn't exist at/.test(error)) {
    return 'Correct `executablePath` in the Playwright config.';
  }
  if (/Executable doesn't exist at|is not found at/.test(error))
    return `Run \`${exec} playwright install ${wanted}\`.`;
  if (/missing dependencies|error while loading shared libraries/.test(error)) {
    return `Run \`${exec} playwright install-deps ${wanted}\`.`;
  }
  return `\`${exec} playwright install --with-deps ${wanted}\` may help; \`DEBUG=pw:browser\` shows the browser's output.`;
}
