import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Evidence } from '../core/evidence.js';
import { withoutSignals } from '../core/fenced.js';
import type { Failure, SuiteFailure, TestError, TestFailure } from '../core/failure.js';
import type { CapturedScript } from '../playwright/capture-format.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { boundedText } from './bounded-text.js';
import { cleanErrors } from './clean-errors.js';
import { cleanRequest } from './clean-request.js';
import { cleanText } from './clean-text.js';
import { writeEvidenceFiles } from './evidence-files.js';
import { mapEvidence } from './map-evidence.js';
import type { EvidenceLimits, ScreenshotSource } from './page-evidence.js';
import { readTestPage } from './page-sources.js';
import { PassingEvidence } from './passing-evidence.js';
import { keepScreenshot } from './screenshot.js';
import { suiteServerOutput, testServerOutput } from './server-output.js';
import { Shortfalls } from './shortfalls.js';
import { unfinishedErrors } from './unfinished-errors.js';
import type { ParsedMaps } from './source-maps/parsed-maps.js';

/** One failure, and where what belongs to it lies. */
export interface EvidenceRequest {
  readonly failure: Failure;
  readonly run: SuiteRun;
  /** The failure's own folder, `failures/<n>/`; made where it is missing. */
  readonly folder: string;
  readonly limits: EvidenceLimits;
  /** The project's root, in which sources and their maps are looked for; Playwright's `rootDir` where it is not given. */
  readonly root?: string;
  /** Source maps that were read for other failures of the run. */
  readonly maps?: ParsedMaps;
  /** What passing tests of the run complained of as well. */
  readonly passing?: PassingEvidence;
  /** A `Redactor`'s; by default what belongs to no environment in particular. */
  readonly clean?: (text: string) => string;
}

/** What a failure's sources gave, without what is the same for all. */
type Gathered = Omit<Evidence, 'errors' | 'sources' | 'missing' | 'cut' | 'rootDir'>;
/** With what the frames in them are mapped by. */
type Unmapped = Gathered & { readonly scripts: readonly CapturedScript[]; readonly covered: string | null };

/**
 * Gathers everything around one failure, cleaned, masked and bounded (EV-9, EV-10, EV-11), and writes it into `folder`:
 * screenshot, console.log, network.json, server.log, aria.yml. Each part fails alone, and is then named in `missing`
 * (EV-12); never rejects.
 */
export async function gatherEvidence(request: EvidenceRequest): Promise<Evidence> {
  const { failure, run } = request;
  const { clean = cleanText, passing = new PassingEvidence() } = request;
  // An agent that prints such a file must not be taken for one that speaks.
  const shortfalls = new Shortfalls((text) => withoutSignals(clean(text)));
  const folder = resolve(request.folder);
  await shortfalls.attempt('the folder of the evidence', () => mkdir(folder, { recursive: true }));
  const errors =
    (await shortfalls.attempt('the errors', () => cleanErrors(failure.errors, shortfalls))) ?? [];
  const { scripts, covered, ...gathered } =
    failure.scope === 'test'
      ? await gatherTest({ ...request, folder }, failure, shortfalls)
      : await gatherSuite(run, failure, shortfalls);
  const hung = failure.scope === 'test' ? unfinishedErrors(failure, covered) : [];
  const unmapped = {
    ...passing.mark(gathered, failure.errors),
    errors: [...errors, ...cleanErrors(hung, shortfalls)],
  };
  const where = { root: request.root ?? run.rootDir, pageUrl: gathered.pageUrl, scripts, maps: request.maps };
  const mapped = await shortfalls.attempt('the source maps', () => mapEvidence(unmapped, where, shortfalls));
  const evidence = { ...unmapped, sources: [], ...mapped };
  await shortfalls.attempt('the files of the evidence', () =>
    writeEvidenceFiles(folder, evidence, shortfalls),
  );
  return { ...evidence, missing: shortfalls.missing, cut: shortfalls.cuts, rootDir: run.rootDir };
}

async function gatherTest(
  { run, folder, limits }: EvidenceRequest,
  failure: TestFailure,
  shortfalls: Shortfalls,
): Promise<Unmapped> {
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
    // Empty where the page is blank, which says something.
    ariaSnapshot:
      typeof page?.ariaSnapshot === 'string'
        ? boundedText(page.ariaSnapshot, 'ariaSnapshot', shortfalls)
        : null,
    pageUrl: page?.pageUrl ? boundedText(page.pageUrl, 'url', shortfalls) : null,
    screenshot: await screenshotIn(folder, page, shortfalls),
    trace: page?.trace ? resolve(page.trace) : null,
    scripts: page?.scripts ?? [],
    covered: page?.covered ?? null,
    elements: page?.elements ?? null,
  };
}

async function gatherSuite(run: SuiteRun, failure: SuiteFailure, shortfalls: Shortfalls): Promise<Unmapped> {
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
    scripts: [],
    covered: null,
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
