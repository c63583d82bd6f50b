import path from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { stripAnsi } from '../core/visible-text.js';
import { failed, passed, type Check, probe, warning } from './check.js';
import type { Playwright } from '../playwright/find-playwright.js';
import type { ListedBrowser } from '../playwright/inject/list-projects.js';
import { unattended } from '../playwright/unattended.js';
import { packageManagerOf } from '../playwright/package-manager.js';
import { jsonOf } from '../json-of.js';

const listedBrowser: z.ZodType<ListedBrowser> = z.object({
  browserName: z.string(),
  channel: z.string().optional(),
  headless: z.boolean().optional(),
  launchOptions: z.record(z.string(), z.unknown()).optional(),
  isRemote: z.boolean(),
});

/** What `inject/list-projects.ts` prints about a suite. */
const listedTests = z.object({
  tests: z.number(),
  errors: z.array(z.string()),
  browsers: z.array(listedBrowser),
});

/** Lists the tests, which starts neither tests nor web servers, and then starts each browser that they would use. */
export async function checkSuite(place: SuitePlace): Promise<Check[]> {
  const { cwd, config } = place;
  const { listed, output } = await listSuite(place);
  if (listed === null) {
    return [
      failed('tests', `Playwright could not list the tests: ${firstLine(output)}`, howToList(config, cwd)),
    ];
  }
  const { tests, errors, browsers } = listed;
  const [error] = errors;
  if (tests === 0) return [failed('tests', firstLine(error ?? 'none found'), howToList(config, cwd))];
  const found = `${tests} found${error === undefined ? '' : `, and an error: ${firstLine(error)}`}`;
  // A run hands an error of the suite to an agent, so the error does not prevent a run.
  return [passed('tests', found), ...(await checkBrowsers(browsers, place))];
}

function howToList(config: string, cwd: string): string {
  return `\`playwright test --list -c ${path.relative(cwd, config)}\` shows the full output.`;
}

function firstLine(text: string): string {
  const lines = stripAnsi(text).split(/\r?\n/);
  return (lines.find((line) => line.trim() !== '') ?? 'no output').trim().slice(0, 200);
}

/** The listed tests; null if Playwright could not list them, in which case `output` says why. */
interface ListedSuite {
  readonly listed: z.infer<typeof listedTests> | null;
  readonly output: string;
}

interface SuitePlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly config: string;
  readonly playwright: Playwright;
  /** The folder of the compiled scripts for Playwright. */
  readonly injectDir: string;
}

/** Lists the tests of a suite and how its projects start their browsers. Starts neither tests nor web servers. */
async function listSuite(place: SuitePlace): Promise<ListedSuite> {
  const { cwd, env, config, playwright, injectDir } = place;
  const reporter = path.join(injectDir, 'list-projects.cjs');
  const argv = [process.execPath, playwright.cli, 'test', '--list', '-c', config, `--reporter=${reporter}`];
  const { output } = await probe(argv, { cwd, env: { ...unattended(env), NO_COLOR: '1', FORCE_COLOR: '0' } });
  const [line] = markedLines(output, 'self-heal-listed');
  const listed = listedTests.safeParse(line);
  return { listed: listed.success ? listed.data : null, output };
}

const startedShape = z.object({ version: z.string().nullable(), error: z.string().nullable() });

/** Starts every browser that the suite's projects use, once per distinct launch configuration. */
async function checkBrowsers(browsers: readonly ListedBrowser[], place: SuitePlace): Promise<Check[]> {
  const different = [...new Map(browsers.map((one) => [JSON.stringify(one), one])).values()];
  const local = different.filter(({ isRemote }) => !isRemote);
  const remote = different
    .filter(({ isRemote }) => isRemote)
    .map((one) =>
      warning(
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
  if (started?.version) return passed('browser', `${name} ${started.version}`);
  const error = stripAnsi(started?.error ?? 'it did not start');
  return failed('browser', `${name}: ${launchError(error)}`, remedyFor(error, browser, cwd));
}

function nameOf({ browserName, channel }: ListedBrowser): string {
  return channel === undefined ? browserName : `${browserName} (${channel})`;
}

/** Returns the first line of Playwright's message, without the name of the call. */
function launchError(error: string): string {
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

/** Returns the values that our own scripts printed as `mark: {json}`, among any other output. */
function markedLines(output: string, mark: string): unknown[] {
  return output.split(/\r?\n/).flatMap((line) => {
    const value = line.startsWith(`${mark}: `) ? jsonOf(line.slice(mark.length + 2)) : undefined;
    return value === undefined ? [] : [value];
  });
}
