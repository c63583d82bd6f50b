import path from 'node:path';
import { stripAnsi } from '../core/classify/strip-ansi.js';
import { bad, good, type Check } from './check.js';
import { checkBrowsers } from './check-browsers.js';
import { listSuite, type SuitePlace } from './list-suite.js';

/** Lists the tests, which starts neither tests nor web servers, and then starts each browser that they would use. */
export async function checkSuite(place: SuitePlace): Promise<Check[]> {
  const { cwd, config } = place;
  const { listed, output } = await listSuite(place);
  if (listed === null) {
    return [
      bad('tests', `Playwright could not list the tests: ${firstLine(output)}`, listYourself(config, cwd)),
    ];
  }
  const { tests, errors, browsers } = listed;
  const [error] = errors;
  if (tests === 0) return [bad('tests', firstLine(error ?? 'none found'), listYourself(config, cwd))];
  const found = `${tests} found${error === undefined ? '' : `, and an error: ${firstLine(error)}`}`;
  // A run hands an error of the suite to an agent, so the error does not prevent a run.
  return [good('tests', found), ...(await checkBrowsers(browsers, place))];
}

function listYourself(config: string, cwd: string): string {
  return `\`playwright test --list -c ${path.relative(cwd, config)}\` shows the full output.`;
}

function firstLine(text: string): string {
  const lines = stripAnsi(text).split(/\r?\n/);
  return (lines.find((line) => line.trim() !== '') ?? 'no output').trim().slice(0, 200);
}
