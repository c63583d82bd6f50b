import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { createOwnUrlCheck } from '../urls.js';
import { findFailedRequests, mayShowAppError, listJsonErrors } from '../diagnose/requests.js';
import { findNamedRequests } from '../diagnose/named-requests.js';
import type { Evidence, NetworkEntry, PageElement, TestStep } from '../model/evidence.js';
import { removeSignals } from '../fenced.js';
import { isServerError } from '../diagnose/graphql-errors.js';
import {
  type Failure,
  type SuiteFailure,
  type TestError,
  type TestFailure,
  createPlainError,
} from '../model/failure.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { cleanAndClip, EvidenceNotes, cleanErrors, cleanRequest, cleanText } from './bounded-text.js';
import { markAsData } from './evidence-files.js';
import { mapEvidence } from './map-evidence.js';
import type { EvidenceLimits } from './page-evidence.js';
import { readTestPage, copyComparisonPictures, copyScreenshot } from './page-sources.js';
import { type PassingTrace, markCommonEntries, findPassingTestsInFile } from './passing-tests.js';
import {
  AFTER_TEST_MS,
  createLogReader,
  readSuiteServerOutput,
  readTestServerOutput,
} from './server-output.js';
import type { ParsedMaps } from './source-maps/source-map.js';
import { findCoveringElement } from '../diagnose/complaint.js';

/** One failure, and the sources of its evidence. */
export interface EvidenceRequest {
  readonly failure: Failure;
  readonly run: SuiteRun;
  /** The failure's own folder, `failures/<n>/`; created if it does not exist. */
  readonly folder: string;
  readonly limits: EvidenceLimits;
  /** The project's root, searched for sources and source maps; default: Playwright's `rootDir`. */
  readonly root?: string;
  /** The repository or workspace around the project, whose other packages are searched, too; default: `root`. */
  readonly workspaceDir?: string;
  /** Source maps already read for other failures of the run. */
  readonly maps?: ParsedMaps;
  /** The passing tests of a traced run, with their console errors and failed requests. */
  readonly passing?: readonly PassingTrace[];
  /** `Redactor.clean`; by default, masks only secrets that are recognizable by their format. */
  readonly clean?: (text: string) => string;
  /** Reads the logs of the run's servers; shared by its failures. */
  readonly logs?: ReturnType<typeof createLogReader>;
  /** `Redactor.learn`. */
  readonly learn?: (typed: Iterable<string>) => void;
}

/** The browser's clock and the worker's may differ by this much. */
const CLOCK_SKEW_MS = 100;

/** The evidence from a failure's own sources. */
type OwnEvidence = Omit<Evidence, 'errors' | 'sources' | 'missing' | 'cut' | 'rootDir' | 'workspaceDir'>;
/** Evidence whose stacks still point into built code; `log` is the log of the failing action. */
type UnmappedEvidence = OwnEvidence & { readonly log: readonly string[] };

/**
 * Gathers the evidence of one failure, cleaned, masked and bounded (EV-9, EV-10, EV-11), and writes the screenshot and aria.yml into `folder`.
 * If one part cannot be gathered, `missing` says so and the others are unaffected (EV-12). Never rejects.
 */
export async function gatherEvidence(request: EvidenceRequest): Promise<Evidence> {
  const { failure, run } = request;
  const { clean = cleanText } = request;
  // The evidence must not contain a completion signal, because an agent that prints the evidence would seem to send it.
  const notes = new EvidenceNotes((text) => removeSignals(clean(text)));
  const folder = resolve(request.folder);
  await notes.tryGather('the evidence folder', () => mkdirSync(folder, { recursive: true }));
  const errorsWithPaths = failure.errors.map((error) =>
    rewriteSnippetPath(error, request.root ?? run.rootDir),
  );
  const { log, ...gathered } =
    failure.scope === 'test'
      ? await gatherTest({ ...request, folder }, failure, notes)
      : await gatherSuite(run, failure, notes);
  // Comes after the trace, which reveals the secrets that the test typed into fields.
  const errors = (await notes.tryGather('the errors', () => cleanErrors(errorsWithPaths, notes))) ?? [];
  const unfinishedActions = failure.scope === 'test' ? createUnfinishedActionErrors(failure, log) : [];
  const unmapped = {
    ...gathered,
    errors: [...errors, ...cleanErrors(unfinishedActions, notes)],
  };
  const { root = run.rootDir, workspaceDir = root, maps } = request;
  const testFile = failure.scope === 'test' ? failure.test.location.file : undefined;
  const mappingRequest = {
    root,
    workspaceDir,
    testFile,
    pageUrl: gathered.pageUrl,
    maps,
    scripts: run.scripts ?? [],
  };
  const mapped = await notes.tryGather('the source maps', () => mapEvidence(unmapped, mappingRequest, notes));
  const evidence = { ...unmapped, sources: [], ...mapped };
  return { ...evidence, missing: notes.missing, cut: notes.cuts, rootDir: root, workspaceDir };
}

async function gatherTest(
  {
    run,
    folder,
    limits,
    learn,
    passing = [],
    root = run.rootDir,
    logs = createLogReader(run.serverLog),
  }: EvidenceRequest,
  failure: TestFailure,
  notes: EvidenceNotes,
): Promise<UnmappedEvidence> {
  run.problems.slice(0, 3).forEach((problem) => notes.noteMissing(problem));
  const page = await readTestPage(failure, { ...run, limits, learn }, notes);
  // The trace of a page that tests share also has the requests of earlier tests.
  const ownRequests = page.network.filter(({ time }) => time >= failure.startedAt - CLOCK_SKEW_MS);
  const entries = {
    console: page.console,
    network: ownRequests.map((entry) => cleanRequest(entry, notes)),
  };
  const picture = page.screenshot;
  const snapshot = page.snapshot ?? (page.elements && describeElements(page.elements));
  const texts = [
    snapshot ?? '',
    ...failure.errors.map(({ message }) => message),
    ...page.console.map(({ text }) => text),
  ];
  const markedEntries = markCommonEntries(entries, failure, passing);
  const { console } = markedEntries;
  const network = markedEntries.network.map((entry) => markHtmlInPlaceOfJson(entry, texts));
  const isAppUrl = createOwnUrlCheck({ pageUrl: page.pageUrl, network });
  const failedRequests = findFailedRequests({ network, errors: failure.errors }, isAppUrl);
  const errorText = [
    ...failure.errors.map((error) => [error.message, ...error.causes].join('\n')),
    ...network.map((entry) => entry.failure ?? ''),
  ].join('\n');
  await notes.tryGather('the pictures of a screenshot comparison', () =>
    copyComparisonPictures(failure.attachments, folder),
  );
  if (page.pageUrl !== null && page.snapshot === null && page.elements === null)
    notes.noteMissing(
      'no accessibility snapshot, and the page has more than 800 elements, so they are not listed',
    );
  const ariaSnapshot = snapshot === null ? null : cleanAndClip(snapshot, 'ariaSnapshot', notes);
  if (page.snapshot !== null && ariaSnapshot)
    await notes.tryGather('the file aria.yml', () =>
      writeFileSync(join(folder, 'aria.yml'), markAsData(ariaSnapshot)),
    );
  const servers = {
    logs,
    errorText,
    appRequests: network.filter(({ url }) => isAppUrl(url)),
    failedRequests: failedRequests.filter(mayShowAppError),
    isAboutOthers: findNamedRequests(failedRequests.filter(mayShowAppError), failure).isAboutOthers,
    passingRequests: findPassingTestsInFile(failure, passing).flatMap(({ requests }) => requests),
    ranAlone: ranAlone(failure, run, passing),
    // A retry has a worker of its own.
    worker:
      failure.retry > 0
        ? null
        : (run.tests.find((result) => result.test.id === failure.test.id)?.firstTry?.worker ?? null),
  };
  const serverResult =
    run.serverLog === ''
      ? null
      : await notes.tryGather('no server output', () => readTestServerOutput(servers, failure, notes));
  const serverOutput = serverResult?.text ?? '';
  if (serverOutput === '' && failedRequests.some(isServerError))
    notes.noteMissing(
      'no server output: the server answered with an error and wrote nothing, or this run did not start it',
    );
  return {
    failedStep: failure.failedStep === null ? null : cleanAndClip(failure.failedStep, 'consoleText', notes),
    ...(page.steps.length > 0 ? { steps: page.steps.map((step) => cleanStep(step, root, notes)) } : {}),
    console,
    network,
    serverOutput,
    ...(serverResult && serverResult.lines.length > 0 ? { serverLines: serverResult.lines } : {}),
    ...(serverResult && serverResult.ofOthers.length > 0 ? { ofOthers: serverResult.ofOthers } : {}),
    ariaSnapshot,
    pageUrl: page.pageUrl ? cleanAndClip(page.pageUrl, 'url', notes) : null,
    screenshot: picture && (await notes.tryGather('no screenshot', () => copyScreenshot(picture, folder))),
    trace: page.trace && resolve(page.trace),
    elements: page.elements,
    log: page.log,
  };
}

/** Marks a call as failed if it got an HTML page that the app tried to parse as JSON: an error then quotes the start of that page. */
function markHtmlInPlaceOfJson(entry: NetworkEntry, texts: readonly string[]): NetworkEntry {
  const { status, resourceType, responseBody } = entry;
  const isPage =
    status !== null &&
    status < 300 &&
    /^(?:fetch|xhr)$/.test(resourceType) &&
    /^\s*<(?:!doctype|html)/i.test(responseBody ?? '');
  const isQuoted =
    isPage && listJsonErrors(responseBody).some((quote) => texts.some((text) => text.includes(quote)));
  return isQuoted ? { ...entry, status: null, failure: `${status} with text/html in place of JSON` } : entry;
}

/** Describes the elements on a page, one per line; returns an empty string if all are empty containers. */
function describeElements(elements: readonly PageElement[]): string {
  const isEmpty = ({ tag, text }: PageElement) =>
    text === '' && /^(?:body|div|main|p|section|span)$/.test(tag);
  if (elements.every(isEmpty)) return '';
  return elements
    .map(({ tag, text, attributes }) => {
      const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
      return `<${tag}${pairs.join('')}>${text}`;
    })
    .join('\n');
}

/** Returns a step cleaned, masked and bounded, with its position relative to the project. */
function cleanStep(step: TestStep, root: string, notes: EvidenceNotes): TestStep {
  const clean = (text: string) => cleanAndClip(text, 'consoleText', notes);
  const { at, title, error, log } = step;
  const position = at.startsWith(`${resolve(root)}/`) ? at.slice(resolve(root).length + 1) : at;
  return {
    ...step,
    title: clean(title),
    at: clean(position),
    error: error && clean(error),
    log: log.map(clean),
  };
}

/** True if no other recorded test ran during the time from which server output is read. */
function ranAlone(failure: TestFailure, run: SuiteRun, passing: readonly PassingTrace[]): boolean {
  const from = failure.startedAt;
  const to = from + failure.durationMs + AFTER_TEST_MS;
  const others = run.failures.filter((other) => other.test.id !== failure.test.id);
  const passingRequests = passing.flatMap(({ requests }) => requests);
  return (
    run.tests.filter(({ outcome }) => outcome === 'expected').length <= passing.length &&
    others.every(({ startedAt, durationMs }) => startedAt > to || startedAt + durationMs < from) &&
    passingRequests.every(({ time }) => time < from || time > to)
  );
}

async function gatherSuite(
  run: SuiteRun,
  failure: SuiteFailure,
  notes: EvidenceNotes,
): Promise<UnmappedEvidence> {
  const output = await notes.tryGather('no server output', () =>
    readSuiteServerOutput(run.serverLog, failure, notes),
  );
  return {
    failedStep: null,
    console: [],
    network: [],
    serverOutput: output ?? cleanAndClip(failure.stderr, 'serverOutput', notes),
    ariaSnapshot: null,
    pageUrl: null,
    screenshot: null,
    trace: null,
    log: [],
  };
}

/** Makes the path above a code excerpt relative to the project's root; Playwright prints it relative to the test folder. */
function rewriteSnippetPath(error: TestError, root: string): TestError {
  const { snippet, location } = error;
  if (!snippet || !location) return error;
  const positionLine = `   at ${relative(root, location.file).replaceAll('\\', '/')}:${location.line}`;
  return { ...error, snippet: snippet.replace(/^ {3}at \S.*:\d+$/m, () => positionLine) };
}

/**
 * Returns errors for actions that were in progress when the test ended. Playwright does not report them, for example in a `Promise.all` where another
 * wait fails first. `log` is the log of the last action.
 */
function createUnfinishedActionErrors(
  { unfinished = [], errors }: Pick<TestFailure, 'unfinished' | 'errors'>,
  log: readonly string[],
): TestError[] {
  const location = errors.find((error) => error.location)?.location ?? null;
  const unreported = unfinished.filter((action) => {
    const locator = action.slice(action.search(/(?:locator|getBy\w+|frameLocator)\(/));
    return !errors.some(({ message }) => message.includes(locator));
  });
  const cover = findCoveringElement(log.findLast((line) => line.includes('intercepts pointer events')) ?? '');
  return unreported.map((action, index) => {
    const isLast = index === unreported.length - 1;
    const why = isLast && cover !== null ? `: ${cover} covers it` : '';
    return createPlainError(`Error: ${action} had not finished when the test ended${why}`, location);
  });
}
