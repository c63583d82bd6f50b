import {
  categories,
  type Category,
  isDecisive,
  type Diagnosis,
  type EvidenceSource,
  type Reason,
  likely,
  type RetryAxis,
  weak,
} from '../model/diagnosis.js';
import { type Evidence, hasFailed, isErrorEntry, type NetworkEntry, unanswered } from '../model/evidence.js';
import { isRefusal } from './graphql-errors.js';
import { createOwnUrlCheck, isLoopback, splitUrl } from '../urls.js';
import { findFailedRequests, failedResource, isSignIn } from './requests.js';
import { findAdviceForPerson, findDecidingUnreachableRequest } from './advice.js';
import { findDecidingService } from './services.js';
import { isNamedByApp, hasUnreachableHost } from './unreachable-host.js';
import { parseComplaint, findMarkedLine, orderErrors } from './complaint.js';
import { collectFacts } from './facts.js';
import { createMatcher, type EvidenceText } from './match.js';
import { isProjectRule, type ProjectRules } from './rule.js';
import { formatConsoleLine, collectTexts, removeLinePrefixes } from './evidence-texts.js';
import { stripAnsi } from '../visible-text.js';
import { removeQuotes } from './without-quotes.js';

/** The warning for a failure that no rule matches (CS-6). */
export const unknownWarning = 'Error type unknown, using default agent';

/** Classifies a failure (CS-1 to CS-8, CS-11): returns its class with reasons and alternatives, and the facts that the evidence names. */
export type Classify = (evidence: Evidence) => Diagnosis;

const MAX_REASONS = 5;

/** Classifies with the built-in rules only. */
export const classify: Classify = createClassify();

/** Compiles the built-in rules' patterns ahead of time. That takes as long as classifying fifty failures, so call it while self-heal is idle. */
export function compileRules(): void {
  const sources: readonly EvidenceSource[] = ['error', 'stack', 'console', 'network', 'server', 'page'];
  createMatcher().findReasons(sources.map((source) => ({ source, text: 'Error' })));
}

/** Creates a classifier from the built-in rules and the project's own (CS-9). */
export function createClassify(project?: ProjectRules): Classify {
  const matcher = createMatcher(project);
  const diagnose = (evidence: Evidence, hasOnlyAssertion: boolean): Diagnosis => {
    const texts = collectTexts(evidence, matcher, hasOnlyAssertion);
    const reasons = matcher.findReasons(texts);
    const [topCategory = 'unknown', ...others] = rankCategories(reasons);
    const lastLine = findExitReason(evidence);
    const strongest = keepStrongestReasons(reasons, topCategory).map((reason) =>
      useInformativeLine(preferErrorMessage(restoreOriginalLine(reason, evidence), texts), evidence, texts),
    );
    const hasServerReason = lastLine === null || strongest.some(({ source }) => source === 'server');
    const exitReasons = hasServerReason ? [] : [createExitReason(lastLine, topCategory)];
    // The more certain reasons come first.
    const orderedReasons = isDecisive(strongest[0]?.confidence ?? 0)
      ? [...strongest, ...exitReasons]
      : [...exitReasons, ...strongest];
    const why = removeRepeated(putServiceFirst(orderedReasons, evidence));
    const advice = findAdviceForPerson(evidence, why);
    // If a server lacks something on the machine, the build is not at fault. If the server printed nothing, the reason is unknown.
    const isOutsideBuild = strongest[0]?.rule === webServerExited && (advice !== null || lastLine === null);
    const category = isOutsideBuild ? 'unknown' : topCategory;
    return {
      category,
      alternatives: listAlternatives(others, strongest, reasons).filter((other) => other !== category),
      confidence: why[0]?.confidence ?? 0,
      why,
      retry: chooseRetryAxis(matcher.findRetryAxis(keepDecidingTexts(texts, why), { category, why }), {
        advice,
        isRefusedByApp: isRefusedByApp(evidence, why),
        isNamedByApp: isHostNamedByApp(evidence, why),
      }),
      facts: collectFacts(evidence, { texts, reasons, why }),
      warning: category === 'unknown' ? unknownWarning : null,
      ...(advice === null ? {} : { advice }),
    };
  };
  return (evidence) => {
    const diagnosis = reclassifyConsoleCount(
      reclassifyApiTest(diagnose(evidence, false), evidence),
      evidence,
    );
    if (diagnosis.category !== 'ui-error') return diagnosis;
    // Passing tests may show the same error without checking it, so it can still explain an assertion that nothing else explains.
    const ownDiagnosis = diagnose(unmarkCommonEntries(evidence), true);
    return ownDiagnosis.category !== 'unknown' && isDecisive(ownDiagnosis.confidence)
      ? ownDiagnosis
      : diagnosis;
  };
}

/** If an API test without a page fails an assertion, the app's response is wrong, so the class is not `ui-error`. */
function reclassifyApiTest(diagnosis: Diagnosis, { pageUrl, network }: Evidence): Diagnosis {
  const isApiTest =
    diagnosis.category === 'ui-error' &&
    pageUrl === null &&
    network.length > 0 &&
    network.every(({ resourceType }) => resourceType === 'api');
  if (!isApiTest) return diagnosis;
  const category = 'runtime-error';
  const why = diagnosis.why.map((reason) => ({ ...reason, category }) as const);
  const alternatives = diagnosis.alternatives.filter((other) => other !== category);
  return { ...diagnosis, category, why, alternatives };
}

const errorCountWords = /(?:error|console|exception|warning)s?\b/i;
const expectedNone = /expected (?:0|\[\]|Array \[\]|nothing)\b|^expected "?(?:Array )?\[\]/;

/** If a test asserts that its page logs no errors, the first logged error is the reason. */
function reclassifyConsoleCount(diagnosis: Diagnosis, evidence: Evidence): Diagnosis {
  const { errors, console } = evidence;
  const { kind, detail } = parseComplaint(errors);
  const countsConsoleErrors =
    (diagnosis.category === 'ui-error' || diagnosis.confidence < likely) &&
    kind === 'value' &&
    expectedNone.test(detail ?? '') &&
    errors.some((error) => errorCountWords.test(`${findMarkedLine(error)} ${error.message.split('\n')[0]}`));
  const isOwnUrl = createOwnUrlCheck(evidence);
  const entry = console.find(
    (one) => isErrorEntry(one) && !one.common && (one.location === '' || isOwnUrl(one.location)),
  );
  if (!countsConsoleErrors || !entry) return diagnosis;
  const category = entry.text.startsWith(failedResource) ? 'network-error' : 'runtime-error';
  const firstLine = formatConsoleLine(entry).split('\n')[0]?.slice(0, 300) ?? '';
  const reason: Reason = {
    rule: 'console/counted-by-test',
    category,
    source: 'console',
    evidence: firstLine,
    confidence: likely,
  };
  const alternatives = [...new Set([diagnosis.category, ...diagnosis.alternatives])].filter(
    (other) => other !== category && other !== 'unknown',
  );
  return {
    ...diagnosis,
    category,
    alternatives,
    confidence: likely,
    why: [reason, ...diagnosis.why],
    warning: null,
  };
}

/**
 * Errors of actions that Playwright could not perform. They state their own reason, so an exception that also occurs in passing tests does not
 * explain them.
 */
const actionError =
  /^(?:\w*Error: )?(?:Test timeout of |(?:locator|page|frame|frameLocator|elementHandle)\.\w+: )/;

/** Removes the mark `common` from failures that also occur in passing tests, except from refusals, unanswered calls and unreachable hosts. */
function unmarkCommonEntries(evidence: Evidence): Evidence {
  const { console, network, errors } = evidence;
  const isAction = errors.some(({ message }) => actionError.test(message));
  const isOwnUrl = createOwnUrlCheck(evidence);
  const mayExplain = (request: NetworkEntry) =>
    hasFailed(request) &&
    request.failure !== unanswered &&
    !hasUnreachableHost(request, isOwnUrl) &&
    (!isRefusal(request) || request.resourceType === 'script');
  return {
    ...evidence,
    console: console.map((entry) =>
      entry.type === 'pageerror' && !isAction ? { ...entry, common: false } : entry,
    ),
    network: network.map((request) => (mayExplain(request) ? { ...request, common: false } : request)),
  };
}

/** Keeps the first of equal reasons: a request that fails again logs the same line. */
const removeRepeated = (reasons: readonly Reason[]) => [
  ...new Map(reasons.map((reason) => [JSON.stringify(reason), reason])).values(),
];

/** Puts the line that names a missing service before its consequences. */
function putServiceFirst(why: readonly Reason[], evidence: Evidence): readonly Reason[] {
  const [first] = why;
  const service = findDecidingService(evidence, why);
  if (!first || !service || service.line.includes(first.evidence)) return why;
  return [{ ...first, rule: 'server/unreached-service', evidence: service.line }, ...why].slice(
    0,
    MAX_REASONS,
  );
}

/** This rule shows only Playwright's step. It decides only if no other rule does, and is never an alternative. */
const webServerExited = 'build/web-server-exited';

function listAlternatives(
  others: readonly Category[],
  [decided]: readonly Reason[],
  reasons: readonly Reason[],
): Category[] {
  if (decided?.rule === webServerExited) return ['unknown'];
  const hasReason = (other: Category) =>
    reasons.some(({ category, rule }) => category === other && rule !== webServerExited);
  return others.filter((other) => other !== 'unknown' && hasReason(other));
}

function createExitReason(evidence: string, category: Category): Reason {
  return { rule: 'server/last-words', category, source: 'server', evidence, confidence: weak };
}

/**
 * Corrects the axis: a problem with the machine needs no code change, a refusal by the app needs no person, and an unreachable host that the app named is
 * not a problem with the machine.
 */
function chooseRetryAxis(
  axis: RetryAxis,
  circumstances: {
    readonly advice: string | null;
    readonly isRefusedByApp: boolean;
    readonly isNamedByApp: boolean;
  },
): RetryAxis {
  const { advice } = circumstances;
  if (axis === 'never_retry' && circumstances.isRefusedByApp) return 'code_error';
  if (axis === 'env_error' && circumstances.isNamedByApp) return 'code_error';
  return advice !== null && axis === 'code_error' ? 'env_error' : axis;
}

/** True if the app itself named the unreachable host. */
function isHostNamedByApp(evidence: Evidence, why: readonly Reason[]): boolean {
  const request = findDecidingUnreachableRequest(evidence, why);
  return request !== null && isNamedByApp(request, evidence, createOwnUrlCheck(evidence));
}

/**
 * True if the app itself refused requests, but no sign-in: different credentials would change nothing. A payment (402) or a pause (429) is asked for
 * by the app's code only if its server is on this machine.
 */
function isRefusedByApp(evidence: Evidence, [decidingReason]: readonly Reason[]): boolean {
  if (decidingReason?.category !== 'network-error' || decidingReason.source === 'server') return false;
  const refused = findFailedRequests(evidence, createOwnUrlCheck(evidence)).filter(({ status, url }) =>
    status === 402 || status === 429
      ? isLoopback(splitUrl(url)?.host ?? '')
      : status === 401 || status === 403,
  );
  return refused.length > 0 && !refused.some(isSignIn);
}

function keepStrongestReasons(reasons: readonly Reason[], category: Category): Reason[] {
  const inCategory = reasons.filter((reason) => reason.category === category);
  const sorted = inCategory.toSorted(
    (a, b) => b.confidence - a.confidence || rankSource(a.source) - rankSource(b.source),
  );
  const first = category === 'network-error' ? sorted.filter(isExplainedByServer) : [];
  const all = [...first, ...sorted.filter((reason) => !first.includes(reason))];
  const isObjectField = ({ evidence }: Reason) => fieldOfObject.test(evidence);
  const highest = Math.max(
    ...all.filter((reason) => !isObjectField(reason)).map(({ confidence }) => confidence),
  );
  return all.filter((reason) => !isObjectField(reason) || reason.confidence > highest).slice(0, MAX_REASONS);
}

/** A line of a printed object (`severity: 'ERROR',`) explains less than another equally certain line. */
const fieldOfObject = /^["']?(?!code\b)\w{1,40}["']?: (?:'[^']*'|"[^"]*"|[\w.-]+),$/;

/** Replaces a field that a driver adds to an error (`code: 'XX000',`) with the error's message above it, which explains more. */
function preferErrorMessage(reason: Reason, texts: readonly EvidenceText[]): Reason {
  if (!/^["']?\w{1,40}["']?: (?:'[^']*'|"[^"]*"|[\w.-]+),?$/.test(reason.evidence)) return reason;
  for (const { source, text } of texts) {
    const lines = source === reason.source ? text.split('\n') : [];
    const at = lines.findIndex((line) => line.trim() === reason.evidence);
    const message = lines
      .slice(Math.max(0, at - MAX_LINES_BETWEEN), Math.max(0, at))
      .findLast((line) => /^\S/.test(line) && messageLine.test(line));
    if (message !== undefined) return { ...reason, evidence: message.trim().slice(0, 300) };
  }
  return reason;
}

/** How many lines (stack frames, other fields) may stand between an error's message and its field. */
const MAX_LINES_BETWEEN = 40;
const messageLine = /^(?:Uncaught )?[\w.$ ]{0,60}(?:[Ee]rror|Exception)\b[^:\n]{0,60}: \S/;

/** A line of the test's source or of Playwright's call log, which does not say what went wrong. */
const testSourceLine = /^> |^\s*-? ?(?:waiting for navigation|\d+ × )/;
/** V8's output before its out-of-memory message. */
const beforeOutOfMemory = /^<--- (?:Last few|JS stack)|^\[\d+:0x|\bMark-(?:Compact|sweep)\b/i;
const outOfMemory = /^.*(?:FATAL ERROR: .*|heap out of memory.*)$/m;

/** Replaces a line that does not say what went wrong with one that does. */
function useInformativeLine(reason: Reason, { errors }: Evidence, texts: readonly EvidenceText[]): Reason {
  if (reason.source === 'error' && testSourceLine.test(reason.evidence)) {
    const [error] = orderErrors(errors);
    const line = stripAnsi(error?.message ?? '')
      .split('\n')
      .find((one) => one.trim() !== '');
    return line === undefined || line.startsWith('Call log')
      ? reason
      : { ...reason, evidence: line.trim().slice(0, 300) };
  }
  if (!beforeOutOfMemory.test(reason.evidence)) return reason;
  const all = texts.flatMap(({ source, text }) => (source === reason.source ? [text] : []));
  const line = outOfMemory.exec(all.join('\n'))?.[0];
  return line === undefined ? reason : { ...reason, evidence: line.trim().slice(0, 300) };
}

/** A locator call whose arguments were removed. */
const emptyLocatorCall = /\b(?:getBy\w{1,20}|get_by_\w{1,20}|locator|frameLocator|filter)\(\)/;

/** Restores the arguments of locators, which are removed before rules read an error, for display to people. */
function restoreOriginalLine(reason: Reason, { errors }: Evidence): Reason {
  if (reason.source !== 'error' || !emptyLocatorCall.test(reason.evidence)) return reason;
  const lines = errors.flatMap(({ message }) => stripAnsi(message).split('\n'));
  const line = lines.find((line) => removeQuotes(line).includes(reason.evidence));
  return line === undefined ? reason : { ...reason, evidence: line.trim().slice(0, 300) };
}

/** True if the server printed why it failed. Such a reason outranks the status 500, which an access log only repeats. */
function isExplainedByServer({ source, rule, confidence }: Reason): boolean {
  return source === 'server' && rule !== 'network/access-log' && isDecisive(confidence);
}

/**
 * Orders equally confident reasons: the server's first, then the page's, then the test's, because an exception in the page may follow from the
 * server's response (`notes.map is not a function`).
 */
function rankSource(source: EvidenceSource): number {
  if (source === 'server') return 0;
  return source === 'error' || source === 'stack' ? 2 : 1;
}

/** Keeps the error itself and the deciding channels, because other evidence must not influence the retry axis. */
function keepDecidingTexts(texts: readonly EvidenceText[], why: readonly Reason[]): EvidenceText[] {
  return texts.filter(({ source }) => source === 'error' || why.some((reason) => reason.source === source));
}

/** The deepest class in the evidence is the root cause. `unknown` (such as a crash) ranks with symptoms. */
const depth: Record<Category, number> = {
  'build-error': 4,
  'database-error': 3,
  'runtime-error': 2,
  'network-error': 1,
  'ui-error': 0,
  unknown: 0,
  flaky: 0,
};

/** A project's own rules outrank any depth (CS-9). */
const projectWeight = 100;

/**
 * Ranks the classes that the reasons indicate, most likely first. Among classes with a deciding reason, the deeper comes first (CS-7:
 * a locator that times out because the page threw is a runtime error), then the more confident.
 */
function rankCategories(reasons: readonly Reason[]): Category[] {
  const best = new Map<Category, number>();
  for (const { category, confidence } of reasons) {
    best.set(category, Math.max(best.get(category) ?? 0, confidence));
  }
  const getConfidence = (category: Category) => best.get(category) ?? 0;
  const projectCategories = new Set(
    reasons.filter(({ rule }) => isProjectRule(rule)).map(({ category }) => category),
  );
  // If a server says why it ends, that explains every broken connection to it.
  const explainsServerEnd = reasons.some(
    ({ category, source, confidence }) =>
      category === 'unknown' && source === 'server' && isDecisive(confidence),
  );
  const getDepth = (category: Category) =>
    category === 'unknown' && explainsServerEnd ? depth['network-error'] + 0.5 : depth[category];
  const getWeight = (category: Category) =>
    (projectCategories.has(category) ? projectWeight : 0) +
    (isDecisive(getConfidence(category)) ? 10 + getDepth(category) : 0) +
    getConfidence(category);
  return categories.filter((category) => best.has(category)).sort((a, b) => getWeight(b) - getWeight(a));
}

/** Playwright's errors about a process of the suite that ended or never answered; only the output of that process can say why. */
const suiteProcessError =
  /Process from config\.webServer (?:was not able to start|exited early)|Timed out waiting \d+ ?ms from config\.webServer|^Error: Playwright ended |verify\.prepare failed/;
/** Messages of package managers, task runners and shells about a failed program, which never say why it failed. */
const wrapperMessage =
  /^(?:> |\$ |npm (?:ERR!|error|warn|WARN|notice)|\s?WARN\b|warning |\(node:\d+\) |\(Use `node --trace|(?:error |Error: )?[Cc]ommand (?:failed|"[^"\n]{0,300}" exited|exited|finished)\b|ERROR: .{0,200} (?:exited|failed) with|.{0,40}\bELIFECYCLE\b|.{0,60}\bERR_PNPM_RECURSIVE|info Visit |.{0,200}\b(?:exited|failed|ended|finished|terminated)(?: (?:early|unexpectedly))?(?: with| \()? ?(?:exit )?(?:code|status|signal)\b|(?:make|gmake)(?:\[\d+\])?: \*\*\*|Error: Process (?:from|completed)|Error: Timed out waiting|Error: Playwright ended|\s*(?:Run|See|Try|For) ['"`\w].{0,200}(?:--help|more information|for details|logs?)\b|.{0,60}A complete log of this run|Tasks: |Failed: |Cached: |Time: |Caused by:?$|Node\.js v\d|exit status \d|Exit code:?)/;
/** A line of a stack, a code excerpt or an error object, which belongs to the message above it. */
const continuationLine =
  /^\s*(?:at |\d{1,5} ?[|│]|>? ?\d{1,5} [|│]|[|│^~]+\s*$|[{}[\]()]+[,;]?$|\w+: .{0,300},$|\w+: (?:'[^']*'|\d+|null|undefined|\[\w+\])$|File "|goroutine \d|from \S+:\d+:in )|node:internal\/|^\s*$/;
const errorWords =
  /\b(?:error|exception|fatal|panic|fail(?:ed|ure)?|cannot|can't|could not|couldn't|unable|no such|not found|missing|invalid|unknown|denied|refused|required?|must|unsupported|unexpected|undefined|already|expected)\b|(?:Error|Exception)\b/i;

/**
 * Returns the line in which one of the suite's processes says why it ended: the first error in its output that is not from a wrapper, or else the last
 * line. Returns null if Playwright's error is about something else, or if the process printed nothing.
 */
function findExitReason({ errors, serverOutput }: Pick<Evidence, 'errors' | 'serverOutput'>): string | null {
  if (!errors.some(({ message }) => suiteProcessError.test(message))) return null;
  const lines = removeLinePrefixes(stripAnsi(serverOutput.slice(-16_000)))
    .split('\n')
    .filter(
      (line) =>
        !continuationLine.test(line) && !wrapperMessage.test(line.trim()) && !suiteProcessError.test(line),
    );
  const complaint = lines.find((line) => errorWords.test(line)) ?? lines.at(-1);
  return complaint?.trim().slice(0, 300) ?? null;
}
