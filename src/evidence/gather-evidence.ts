import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ownOrigin } from '../urls.js';
import { failedRequests, mayTell, quotedByJson } from '../diagnose/requests.js';
import { namedRequests } from '../diagnose/named-requests.js';
import type { Evidence, NetworkEntry, PageElement, TestStep } from '../model/evidence.js';
import { withoutSignals } from '../fenced.js';
import { isServerError } from '../diagnose/graphql-errors.js';
import {
  type Failure,
  type SuiteFailure,
  type TestError,
  type TestFailure,
  plainError,
} from '../model/failure.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { boundedText, EvidenceNotes, cleanErrors, cleanRequest, cleanText } from './bounded-text.js';
import { asData } from './evidence-files.js';
import { mapEvidence } from './map-evidence.js';
import type { EvidenceLimits } from './page-evidence.js';
import { readTestPage, keepComparison, keepScreenshot } from './page-sources.js';
import { type PassingTrace, markCommon, neighboursOf } from './complaints.js';
import { afterTheTestMs, serverLogs, suiteServerOutput, testServerOutput } from './server-output.js';
import type { ParsedMaps } from './source-maps/source-map.js';
import { coverIn } from '../diagnose/complaint.js';

/** One failure, and where to find what belongs to it. */
export interface EvidenceRequest {
  readonly failure: Failure;
  readonly run: SuiteRun;
  /** The failure's own folder, `failures/<n>/`; created if it does not exist. */
  readonly folder: string;
  readonly limits: EvidenceLimits;
  /** The project's root, which is searched for sources and their maps; default: Playwright's `rootDir`. */
  readonly root?: string;
  /** The repository or workspace that contains it, whose other packages are searched, too; default: `root`. */
  readonly workspaceDir?: string;
  /** Source maps already read for other failures of the run. */
  readonly maps?: ParsedMaps;
  /** The passing tests of a traced run, and what they complained of. */
  readonly passing?: readonly PassingTrace[];
  /** `Redactor.clean`; by default, masks only secrets that are recognizable in any environment. */
  readonly clean?: (text: string) => string;
  /** Reads the logs of the run's servers; shared by its failures. */
  readonly logs?: ReturnType<typeof serverLogs>;
  /** `Redactor.learn`. */
  readonly learn?: (typed: Iterable<string>) => void;
}

/** How far the clocks of a browser and its worker may be apart. */
const slackMs = 100;

/** The evidence from a failure's own sources. */
type OwnEvidence = Omit<Evidence, 'errors' | 'sources' | 'missing' | 'cut' | 'rootDir' | 'workspaceDir'>;
/** The evidence with the log of the failing action, which may explain why it did not end. */
type UnmappedEvidence = OwnEvidence & { readonly log: readonly string[] };

/**
 * Gathers the evidence of one failure, cleaned, masked and bounded (EV-9, EV-10, EV-11), and writes it into `folder`:
 * the screenshot and aria.yml. A part that fails is listed in `missing` and does not
 * affect the others (EV-12). Never rejects.
 */
export async function gatherEvidence(request: EvidenceRequest): Promise<Evidence> {
  const { failure, run } = request;
  const { clean = cleanText } = request;
  // An agent that prints such a file must not appear to send a completion signal itself.
  const missing = new EvidenceNotes((text) => withoutSignals(clean(text)));
  const folder = resolve(request.folder);
  await missing.attempt('the evidence folder', () => mkdirSync(folder, { recursive: true }));
  const placed = failure.errors.map((error) => withProjectPath(error, request.root ?? run.rootDir));
  const { log, ...gathered } =
    failure.scope === 'test'
      ? await gatherTest({ ...request, folder }, failure, missing)
      : await gatherSuite(run, failure, missing);
  // What the test typed into fields for secrets is known only now.
  const errors = (await missing.attempt('the errors', () => cleanErrors(placed, missing))) ?? [];
  const hung = failure.scope === 'test' ? unfinishedErrors(failure, log) : [];
  const unmapped = {
    ...gathered,
    errors: [...errors, ...cleanErrors(hung, missing)],
  };
  const { root = run.rootDir, workspaceDir = root, maps } = request;
  const where = { root, workspaceDir, pageUrl: gathered.pageUrl, maps, scripts: run.scripts ?? [] };
  const mapped = await missing.attempt('the source maps', () => mapEvidence(unmapped, where, missing));
  const evidence = { ...unmapped, sources: [], ...mapped };
  return { ...evidence, missing: missing.missing, cut: missing.cuts, rootDir: root, workspaceDir };
}

async function gatherTest(
  {
    run,
    folder,
    limits,
    learn,
    passing = [],
    root = run.rootDir,
    logs = serverLogs(run.serverLog),
  }: EvidenceRequest,
  failure: TestFailure,
  missing: EvidenceNotes,
): Promise<UnmappedEvidence> {
  run.problems.slice(0, 3).forEach((problem) => missing.miss(problem));
  const page = await readTestPage(failure, { ...run, limits, learn }, missing);
  // The trace of a page that tests share also has the requests of earlier tests.
  const own = page.network.filter(({ time }) => time >= failure.startedAt - slackMs);
  const entries = { console: page.console, network: own.map((entry) => cleanRequest(entry, missing)) };
  const picture = page.screenshot;
  const snapshot = page.snapshot ?? (page.elements && elementLines(page.elements));
  const texts = [
    snapshot ?? '',
    ...failure.errors.map(({ message }) => message),
    ...page.console.map(({ text }) => text),
  ];
  const marked = markCommon(entries, failure, passing);
  const { console } = marked;
  const network = marked.network.map((entry) => misanswered(entry, texts));
  const isOwn = ownOrigin({ pageUrl: page.pageUrl, network });
  const failed = failedRequests({ network, errors: failure.errors }, isOwn);
  const complaints = [
    ...failure.errors.map((error) => [error.message, ...error.causes].join('\n')),
    ...network.map((entry) => entry.failure ?? ''),
  ].join('\n');
  await missing.attempt('the pictures of a screenshot comparison', () =>
    keepComparison(failure.attachments, folder),
  );
  if (page.pageUrl !== null && page.snapshot === null && page.elements === null)
    missing.miss('no accessibility snapshot, and too many elements to tell them');
  const ariaSnapshot = snapshot === null ? null : boundedText(snapshot, 'ariaSnapshot', missing);
  if (page.snapshot !== null && ariaSnapshot)
    await missing.attempt('the file aria.yml', () =>
      writeFileSync(join(folder, 'aria.yml'), asData(ariaSnapshot)),
    );
  const servers = {
    logs,
    complaints,
    asked: network.filter(({ url }) => isOwn(url)),
    failed: failed.filter(mayTell),
    isOfOthers: namedRequests(failed.filter(mayTell), failure).isOfOthers,
    ofPassing: neighboursOf(failure, passing).flatMap(({ requests }) => requests),
    isAlone: isAlone(failure, run, passing),
    // A retry has a worker of its own.
    worker:
      failure.retry > 0
        ? null
        : (run.tests.find((result) => result.test.id === failure.test.id)?.firstTry?.worker ?? null),
  };
  const written =
    run.serverLog === ''
      ? null
      : await missing.attempt('no server output', () => testServerOutput(servers, failure, missing));
  const serverOutput = written?.text ?? '';
  if (serverOutput === '' && failed.some(isServerError))
    missing.miss(
      'no server output: the server answered with an error and wrote nothing, or this run did not start it',
    );
  return {
    failedStep: failure.failedStep === null ? null : boundedText(failure.failedStep, 'consoleText', missing),
    ...(page.steps.length > 0 ? { steps: page.steps.map((step) => cleanStep(step, root, missing)) } : {}),
    console,
    network,
    serverOutput,
    ...(written && written.lines.length > 0 ? { serverLines: written.lines } : {}),
    ...(written && written.ofOthers.length > 0 ? { ofOthers: written.ofOthers } : {}),
    ariaSnapshot,
    pageUrl: page.pageUrl ? boundedText(page.pageUrl, 'url', missing) : null,
    screenshot: picture && (await missing.attempt('no screenshot', () => keepScreenshot(picture, folder))),
    trace: page.trace && resolve(page.trace),
    elements: page.elements,
    log: page.log,
  };
}

/** A call that got a page where the app parsed JSON has failed, whatever its status says: some text of the page or of the test quotes its answer. */
function misanswered(entry: NetworkEntry, texts: readonly string[]): NetworkEntry {
  const { status, resourceType, responseBody } = entry;
  const isPage =
    status !== null &&
    status < 300 &&
    /^(?:fetch|xhr)$/.test(resourceType) &&
    /^\s*<(?:!doctype|html)/i.test(responseBody ?? '');
  const isQuoted =
    isPage && quotedByJson(responseBody).some((quote) => texts.some((text) => text.includes(quote)));
  return isQuoted ? { ...entry, status: null, failure: `${status} with text/html in place of JSON` } : entry;
}

/** Returns the elements of a page, one a line; empty if there is no text, and nothing but containers. */
function elementLines(elements: readonly PageElement[]): string {
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
function cleanStep(step: TestStep, root: string, missing: EvidenceNotes): TestStep {
  const clean = (text: string) => boundedText(text, 'consoleText', missing);
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

/** Whether no other test of a run is known to have run while the servers' output was taken. */
function isAlone(failure: TestFailure, run: SuiteRun, passing: readonly PassingTrace[]): boolean {
  const from = failure.startedAt;
  const to = from + failure.durationMs + afterTheTestMs;
  const others = run.failures.filter((other) => other.test.id !== failure.test.id);
  const asked = passing.flatMap(({ requests }) => requests);
  return (
    run.tests.filter(({ outcome }) => outcome === 'expected').length <= passing.length &&
    others.every(({ startedAt, durationMs }) => startedAt > to || startedAt + durationMs < from) &&
    asked.every(({ time }) => time < from || time > to)
  );
}

async function gatherSuite(
  run: SuiteRun,
  failure: SuiteFailure,
  missing: EvidenceNotes,
): Promise<UnmappedEvidence> {
  const output = await missing.attempt('no server output', () =>
    suiteServerOutput(run.serverLog, failure, missing),
  );
  return {
    failedStep: null,
    console: [],
    network: [],
    serverOutput: output ?? boundedText(failure.stderr, 'serverOutput', missing),
    ariaSnapshot: null,
    pageUrl: null,
    screenshot: null,
    trace: null,
    log: [],
  };
}

/** Names the file above an excerpt relative to the project. Playwright names it relative to the folder of the tests. */
function withProjectPath(error: TestError, root: string): TestError {
  const { snippet, location } = error;
  if (!snippet || !location) return error;
  const named = `   at ${relative(root, location.file).replaceAll('\\', '/')}:${location.line}`;
  return { ...error, snippet: snippet.replace(/^ {3}at \S.*:\d+$/m, () => named) };
}

/**
 * Returns errors that Playwright does not report: if a test ends while an action is in progress (in a `Promise.all` with a wait that fails
 * first, for example), that action has no error. `log` is the log of the last action.
 */
function unfinishedErrors(
  { unfinished = [], errors }: Pick<TestFailure, 'unfinished' | 'errors'>,
  log: readonly string[],
): TestError[] {
  const location = errors.find((error) => error.location)?.location ?? null;
  const untold = unfinished.filter((action) => {
    const locator = action.slice(action.search(/(?:locator|getBy\w+|frameLocator)\(/));
    return !errors.some(({ message }) => message.includes(locator));
  });
  const covered = coverIn(log.findLast((line) => line.includes('intercepts pointer events')) ?? '');
  return untold.map((action, index) => {
    const isLast = index === untold.length - 1;
    const why = isLast && covered !== null ? `: ${covered} lies over it` : '';
    return plainError(`Error: ${action} had not finished when the test ended${why}`, location);
  });
}
