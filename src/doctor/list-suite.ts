import path from 'node:path';
import process from 'node:process';
import type { z } from 'zod';
import type { Playwright } from '../playwright/find-playwright.js';
import { listedTests } from '../playwright/list-format.js';
import { unattended } from '../playwright/unattended.js';
import { markedLines } from './marked-lines.js';
import { probe } from './probe.js';

/** The listed tests; null if Playwright could not list them, in which case `output` says why. */
export interface ListedSuite {
  readonly listed: z.infer<typeof listedTests> | null;
  readonly output: string;
}

/** A suite, and what the checks of it need. */
export interface SuitePlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly config: string;
  readonly playwright: Playwright;
  /** The folder of the compiled scripts for Playwright. */
  readonly injectDir: string;
}

/** Lists the tests of a suite and how its projects start their browsers. Starts neither tests nor web servers. */
export async function listSuite(place: SuitePlace): Promise<ListedSuite> {
  const { cwd, env, config, playwright, injectDir } = place;
  const reporter = path.join(injectDir, 'list-projects.cjs');
  const argv = [process.execPath, playwright.cli, 'test', '--list', '-c', config, `--reporter=${reporter}`];
  const { output } = await probe(argv, { cwd, env: { ...unattended(env), NO_COLOR: '1', FORCE_COLOR: '0' } });
  const [line] = markedLines(output, 'self-heal-listed');
  const listed = listedTests.safeParse(line);
  return { listed: listed.success ? listed.data : null, output };
}
