import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Evidence } from '../core/evidence.js';
import { withoutSignals } from '../core/fenced.js';
import type { Failure, SuiteFailure, TestError, TestFailure } from '../core/failure.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { boundedText } from './bounded-text.js';
import { cleanErrors } from './clean-errors.js';
import { cleanRequest } from './clean-request.js';
import { cleanText } from './clean-text.js';
import { writeEvidenceFiles } from './evidence-files.js';
import type { EvidenceLimits, ScreenshotSource } from './page-evidence.js';
import { readTestPage } from './page-sources.js';
import { keepScreenshot } from './screenshot.js';
import { suiteServerOutput, testServerOutput } from './server-output.js';
import { Shortfalls } from './shortfalls.js';

/** One failure, and where what belongs to it lies. */
export interface EvidenceRequest {
  readonly failure: Failure;
  readonly run: SuiteRun;
  /** The failure's own folder, `failures/<n>/`; made where it is missing. */
  readonly folder: string;
  readonly limits: EvidenceLimits;
  /** A `Redactor`'s; by default what belongs to no environment in particular. */
  readonly clean?: (text: string) => string;
}

/** What a failure's sources gave, without what is the same for all. */
type Gathered = Omit<Evidence, 'errors' | 'missing' | 'cut' | 'rootDir'>;

/**
 * Gathers everything around one failure, cleaned, masked and bounded (EV-9, EV-10, EV-11), and writes it into `folder`:
 * screenshot, console.log, network.json, server.log, aria.yml. Each part fails alone, and is then named in `missing`
 * (EV-12); never rejects.
 */
export async function gatherEvidence(request: EvidenceRequest): Promise<Evidence> {
  const { failure, run } = request;
  const { clean = cleanText } = request;
  // An agent that prints such a file must not be taken for one that speaks.
  const shortfalls = new Shortfalls((text) => withoutSignals(clean(text)));
  const folder = resolve(request.folder);
  await shortfalls.attempt('the folder of the evidence', () => mkdir(folder, { recursive: true }));
  const errors =
    (await shortfalls.attempt('the errors', () => cleanErrors(failure.errors, shortfalls))) ?? [];
  const gathered =
    failure.scope === 'test'
      ? await gatherTest({ ...request, folder }, failure, shortfalls)
      : await gatherSuite(run, failure, shortfalls);
  await shortfalls.attempt('the files of the evidence', () =>
    writeEvidenceFiles(folder, gathered, shortfalls),
  );
  return { errors, ...gathered, missing: shortfalls.missing, cut: shortfalls.cuts, rootDir: run.rootDir };
}

async function gatherTest(
  { run, folder, limits }: EvidenceRequest,
  failure: TestFailure,
  shortfalls: Shortfalls,
): Promise<Gathered> {
  if (failure.capture === null)
    run.captureProblems.slice(0, 3).forEach((problem) => shortfalls.miss(problem));
  const page = await shortfalls.attempt('the page', () => readTestPage(failure, limits, shortfalls));
  const network = (page?.network ?? []).map((entry) => cleanRequest(entry, shortfalls));
  const complaints = [...failure.errors.map(wordsOf), ...network.map((entry) => entry.failure ?? '')].join(
    '\n',
  );
  if (page && page.pageUrl !== null && page.ariaSnapshot === null)
    shortfalls.miss('no accessibility snapshot');
  const serverOutput = await shortfalls.attempt('no server output', () =>
    testServerOutput({ path: run.serverLog, complaints }, failure, shortfalls),
  );
  return {
    failedStep:
      failure.failedStep === null ? null : boundedText(failure.failedStep, 'consoleText', shortfalls),
    console: page?.console ?? [],
    network,
    serverOutput: serverOutput ?? '',
    ariaSnapshot: page?.ariaSnapshot ? boundedText(page.ariaSnapshot, 'ariaSnapshot', shortfalls) : null,
    pageUrl: page?.pageUrl ? boundedText(page.pageUrl, 'url', shortfalls) : null,
    screenshot: await screenshotIn(folder, page, shortfalls),
    trace: page?.trace ? resolve(page.trace) : null,
  };
}

async function gatherSuite(run: SuiteRun, failure: SuiteFailure, shortfalls: Shortfalls): Promise<Gathered> {
  const output = await shortfalls.attempt('no server output', () =>
    suiteServerOutput(run.serverLog, failure, shortfalls),
  );
  return {
    failedStep: null,
    console: [],
    network: [],
    serverOutput: output ?? boundedText(failure.stderr, 'serverOutput', shortfalls),
    ariaSnapshot: null,
    pageUrl: null,
    screenshot: null,
    trace: null,
  };
}

async function screenshotIn(
  folder: string,
  page: { screenshot: ScreenshotSource | null; noScreenshotBecause: string | null } | null,
  shortfalls: Shortfalls,
): Promise<string | null> {
  const source = page?.screenshot ?? null;
  if (source !== null) return shortfalls.attempt('no screenshot', () => keepScreenshot(source, folder));
  shortfalls.miss(`no screenshot: ${page?.noScreenshotBecause ?? 'nothing recorded the page'}`);
  return null;
}

function wordsOf(error: TestError): string {
  return [error.message, ...error.causes].join('\n');
}
