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
import { type Evidence, hasFailed, isAlarming, type NetworkEntry, unanswered } from '../model/evidence.js';
import { isRefusal } from './graphql-errors.js';
import { ownOrigin } from '../urls.js';
import { failedRequests, failedResource, isSignIn } from './requests.js';
import { adviceOn, decidingUnreached } from './advice.js';
import { decidingService } from './services.js';
import { isNamedByApp, isUnreached } from './unreached.js';
import { complaintOf, markedLine, tellingErrors } from './complaint.js';
import { factsOf } from './facts.js';
import { createMatcher, type EvidenceText } from './match.js';
import { isProjectRule, type ProjectRules } from './rule.js';
import { consoleLine, evidenceTexts, withoutLinePrefixes } from './evidence-texts.js';
import { stripAnsi } from '../visible-text.js';
import { withoutQuotes } from './without-quotes.js';

/** The warning for a failure that no rule matches (CS-6). */
export const unknownWarning = 'Error type unknown, using default agent';

/** Classifies a failure: what it is, why, what else it may be, and what its evidence names explicitly (CS-1 to CS-8, CS-11). */
export type Classify = (evidence: Evidence) => Diagnosis;

const mostReasons = 5;

/** Classifies with the built-in rules only. */
export const classify: Classify = createClassify();

/** Compiles the built-in rules' patterns ahead of time. This takes as long as classifying fifty failures, so call it while nobody waits. */
export function compileRules(): void {
  const sources: readonly EvidenceSource[] = ['error', 'stack', 'console', 'network', 'server', 'page'];
  createMatcher().reasonsIn(sources.map((source) => ({ source, text: 'Error' })));
}

/** Creates a classifier from the built-in rules and the project's own (CS-9). */
export function createClassify(project?: ProjectRules): Classify {
  const matcher = createMatcher(project);
  const diagnose = (evidence: Evidence, isBare: boolean): Diagnosis => {
    const texts = evidenceTexts(evidence, matcher, isBare);
    const reasons = matcher.reasonsIn(texts);
    const [ranked = 'unknown', ...others] = rankCategories(reasons);
    const lastLine = lastWords(evidence);
    const strong = strongest(reasons, ranked).map((reason) =>
      asTold(asMessage(asWritten(reason, evidence), texts), evidence, texts),
    );
    const hasServerReason = lastLine === null || strong.some(({ source }) => source === 'server');
    const words = hasServerReason ? [] : [lastWordsReason(lastLine, ranked)];
    // The more certain reasons come first.
    const found = isDecisive(strong[0]?.confidence ?? 0) ? [...strong, ...words] : [...words, ...strong];
    const why = withService(found, evidence);
    const advice = adviceOn(evidence, why);
    // If a server lacks something on the machine, its build is not at fault. If it printed nothing, anything may be.
    const isOther = strong[0]?.rule === webServerExited && (advice !== null || lastLine === null);
    const category = isOther ? 'unknown' : ranked;
    return {
      category,
      alternatives: alternativesOf(others, strong, reasons).filter((other) => other !== category),
      confidence: why[0]?.confidence ?? 0,
      why,
      retry: retryOf(matcher.retryAxisOf(relevant(texts, why), { category, why }), {
        advice,
        isOfSession: isOfSession(evidence, why),
        isNamedByApp: isOfApp(evidence, why),
      }),
      facts: factsOf(evidence, { texts, reasons, why }),
      warning: category === 'unknown' ? unknownWarning : null,
      ...(advice === null ? {} : { advice }),
    };
  };
  return (evidence) => {
    const diagnosis = ofConsole(ofRequests(diagnose(evidence, false), evidence), evidence);
    if (diagnosis.category !== 'ui-error') return diagnosis;
    // Something can be broken for passing tests too, if they do not look at it. It then explains an assertion that nothing else explains.
    const bare = diagnose(withoutMarks(evidence), true);
    return bare.category !== 'unknown' && isDecisive(bare.confidence) ? bare : diagnosis;
  };
}

/** A test that has no page, only requests of its own, says nothing about a page: what it got from the app is wrong. */
function ofRequests(diagnosis: Diagnosis, { pageUrl, network }: Evidence): Diagnosis {
  const isOfRequests =
    diagnosis.category === 'ui-error' &&
    pageUrl === null &&
    network.length > 0 &&
    network.every(({ resourceType }) => resourceType === 'api');
  if (!isOfRequests) return diagnosis;
  const category = 'runtime-error';
  const why = diagnosis.why.map((reason) => ({ ...reason, category }) as const);
  const alternatives = diagnosis.alternatives.filter((other) => other !== category);
  return { ...diagnosis, category, why, alternatives };
}

const countsErrors = /(?:error|console|exception|warning)s?\b/i;
const expectsNone = /expected (?:0|\[\]|Array \[\]|nothing)\b|^expected "?(?:Array )?\[\]/;

/** A test that counts the errors of its page fails because of the first of them. */
function ofConsole(diagnosis: Diagnosis, evidence: Evidence): Diagnosis {
  const { errors, console } = evidence;
  const { kind, detail } = complaintOf(errors);
  const isCount =
    (diagnosis.category === 'ui-error' || diagnosis.confidence < likely) &&
    kind === 'value' &&
    expectsNone.test(detail ?? '') &&
    errors.some((error) => countsErrors.test(`${markedLine(error)} ${error.message.split('\n')[0]}`));
  const own = ownOrigin(evidence);
  const entry = console.find(
    (one) => isAlarming(one) && !one.common && (one.location === '' || own(one.location)),
  );
  if (!isCount || !entry) return diagnosis;
  const category = entry.text.startsWith(failedResource) ? 'network-error' : 'runtime-error';
  const said = consoleLine(entry).split('\n')[0]?.slice(0, 300) ?? '';
  const reason: Reason = {
    rule: 'console/counted-by-test',
    category,
    source: 'console',
    evidence: said,
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
 * Errors of actions that Playwright could not perform. These state their reason themselves, so an exception that passing tests have too does
 * not explain them.
 */
const isOfAction =
  /^(?:\w*Error: )?(?:Test timeout of |(?:locator|page|frame|frameLocator|elementHandle)\.\w+: )/;

/**
 * Returns the evidence as if what failed in passing tests too were this test's own, except for refusals, unanswered calls and hosts that this machine
 * does not reach.
 */
function withoutMarks(evidence: Evidence): Evidence {
  const { console, network, errors } = evidence;
  const isAction = errors.some(({ message }) => isOfAction.test(message));
  const own = ownOrigin(evidence);
  const mayTell = (request: NetworkEntry) =>
    hasFailed(request) &&
    request.failure !== unanswered &&
    !isUnreached(request, own) &&
    (!isRefusal(request) || request.resourceType === 'script');
  return {
    ...evidence,
    console: console.map((entry) =>
      entry.type === 'pageerror' && !isAction ? { ...entry, common: false } : entry,
    ),
    network: network.map((request) => (mayTell(request) ? { ...request, common: false } : request)),
  };
}

/** Puts the line that names a missing service before what followed from it. */
function withService(why: readonly Reason[], evidence: Evidence): readonly Reason[] {
  const [first] = why;
  const service = decidingService(evidence, why);
  if (!first || !service || service.line.includes(first.evidence)) return why;
  return [{ ...first, rule: 'server/unreached-service', evidence: service.line }, ...why].slice(
    0,
    mostReasons,
  );
}

/** This rule only says what Playwright was doing. It decides if nothing else does, and is no alternative. */
const webServerExited = 'build/web-server-exited';

function alternativesOf(
  others: readonly Category[],
  [decided]: readonly Reason[],
  reasons: readonly Reason[],
): Category[] {
  if (decided?.rule === webServerExited) return ['unknown'];
  const isTold = (other: Category) =>
    reasons.some(({ category, rule }) => category === other && rule !== webServerExited);
  return others.filter((other) => other !== 'unknown' && isTold(other));
}

function lastWordsReason(evidence: string, category: Category): Reason {
  return { rule: 'server/last-words', category, source: 'server', evidence, confidence: weak };
}

/** A problem of the machine needs no change of the code, a session that a server refuses needs no person, and a host that the app named is no matter of the machine. */
function retryOf(
  axis: RetryAxis,
  found: { readonly advice: string | null; readonly isOfSession: boolean; readonly isNamedByApp: boolean },
): RetryAxis {
  const { advice } = found;
  if (axis === 'never_retry' && found.isOfSession) return 'code_error';
  if (axis === 'env_error' && found.isNamedByApp) return 'code_error';
  return advice !== null && axis === 'code_error' ? 'env_error' : axis;
}

/** Whether the app itself named the host that was not reached. */
function isOfApp(evidence: Evidence, why: readonly Reason[]): boolean {
  const request = decidingUnreached(evidence, why);
  return request !== null && isNamedByApp(request, evidence, ownOrigin(evidence));
}

/** Whether the app refused requests (401, 403) and none of them signs in, so that other credentials would change nothing. */
function isOfSession(evidence: Evidence, [decided]: readonly Reason[]): boolean {
  if (decided?.category !== 'network-error' || decided.source === 'server') return false;
  const refused = failedRequests(evidence, ownOrigin(evidence)).filter(
    ({ status }) => status === 401 || status === 403,
  );
  return refused.length > 0 && !refused.some(isSignIn);
}

function strongest(reasons: readonly Reason[], category: Category): Reason[] {
  const own = reasons.filter((reason) => reason.category === category);
  const sorted = own.toSorted(
    (a, b) => b.confidence - a.confidence || nearness(a.source) - nearness(b.source),
  );
  const first = category === 'network-error' ? sorted.filter(isSaidByServer) : [];
  const all = [...first, ...sorted.filter((reason) => !first.includes(reason))];
  const isField = ({ evidence }: Reason) => fieldOfObject.test(evidence);
  const sure = Math.max(...all.filter((reason) => !isField(reason)).map(({ confidence }) => confidence));
  return all.filter((reason) => !isField(reason) || reason.confidence > sure).slice(0, mostReasons);
}

/** A line of a printed object (`severity: 'ERROR',`) tells less than another equally certain line. */
const fieldOfObject = /^["']?(?!code\b)\w{1,40}["']?: (?:'[^']*'|"[^"]*"|[\w.-]+),$/;

/** Replaces a field that a driver adds to an error (`code: 'XX000',`) by the error's message above it, which tells more. */
function asMessage(reason: Reason, texts: readonly EvidenceText[]): Reason {
  if (!/^["']?\w{1,40}["']?: (?:'[^']*'|"[^"]*"|[\w.-]+),?$/.test(reason.evidence)) return reason;
  for (const { source, text } of texts) {
    const lines = source === reason.source ? text.split('\n') : [];
    const at = lines.findIndex((line) => line.trim() === reason.evidence);
    const message = lines
      .slice(Math.max(0, at - mostFrames), Math.max(0, at))
      .findLast((line) => /^\S/.test(line) && messageLine.test(line));
    if (message !== undefined) return { ...reason, evidence: message.trim().slice(0, 300) };
  }
  return reason;
}

/** How many lines of a stack and of fields may stand between an error's message and its field. */
const mostFrames = 40;
const messageLine = /^(?:Uncaught )?[\w.$ ]{0,60}(?:[Ee]rror|Exception)\b[^:\n]{0,60}: \S/;

/** A line of the test's own source, or of what Playwright did: it says nothing of what went wrong. */
const ofTest = /^> |^\s*-? ?(?:waiting for navigation|\d+ × )/;
/** What V8 prints before it says that its memory is used up. */
const beforeOutOfMemory = /^<--- (?:Last few|JS stack)|^\[\d+:0x|\bMark-(?:Compact|sweep)\b/i;
const outOfMemory = /^.*(?:FATAL ERROR: .*|heap out of memory.*)$/m;

/** Replaces a line that only leads to what went wrong by the line that says it. */
function asTold(reason: Reason, { errors }: Evidence, texts: readonly EvidenceText[]): Reason {
  if (reason.source === 'error' && ofTest.test(reason.evidence)) {
    const [error] = tellingErrors(errors);
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

/** The call of a locator without its arguments. */
const emptied = /\b(?:getBy\w{1,20}|get_by_\w{1,20}|locator|frameLocator|filter)\(\)/;

/** Rules read errors without what locators quote. Returns the reason with the line as it was written, for people. */
function asWritten(reason: Reason, { errors }: Evidence): Reason {
  if (reason.source !== 'error' || !emptied.test(reason.evidence)) return reason;
  const lines = errors.flatMap(({ message }) => stripAnsi(message).split('\n'));
  const line = lines.find((line) => withoutQuotes(line).includes(reason.evidence));
  return line === undefined ? reason : { ...reason, evidence: line.trim().slice(0, 300) };
}

/** Whether the server printed why it could not answer. This comes before its status of 500, which an access log only repeats. */
function isSaidByServer({ source, rule, confidence }: Reason): boolean {
  return source === 'server' && rule !== 'network/access-log' && isDecisive(confidence);
}

/**
 * Orders equally confident reasons: the server's first, then the page's, then the test's. What the page throws may result from the server's
 * answer (`notes.map is not a function`).
 */
function nearness(source: EvidenceSource): number {
  if (source === 'server') return 0;
  return source === 'error' || source === 'stack' ? 2 : 1;
}

/** The error itself and the channels that decided; other evidence must not influence the retry axis. */
function relevant(texts: readonly EvidenceText[], why: readonly Reason[]): EvidenceText[] {
  return texts.filter(({ source }) => source === 'error' || why.some((reason) => reason.source === source));
}

/** How deep a class lies: if the evidence shows several, the deepest is the root cause. `unknown` (such as a crash) ranks with symptoms. */
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
  const sure = (category: Category) => best.get(category) ?? 0;
  const named = new Set(reasons.filter(({ rule }) => isProjectRule(rule)).map(({ category }) => category));
  // A server that says why it dies explains every connection that broke with it.
  const ofEnd = (reason: Reason) => reason.source === 'server' && isDecisive(reason.confidence);
  const isServerDeath = reasons.some((reason) => reason.category === 'unknown' && ofEnd(reason));
  const depthOf = (category: Category) =>
    category === 'unknown' && isServerDeath ? depth['network-error'] + 0.5 : depth[category];
  const weight = (category: Category) =>
    (named.has(category) ? projectWeight : 0) +
    (isDecisive(sure(category)) ? 10 + depthOf(category) : 0) +
    sure(category);
  return categories.filter((category) => best.has(category)).sort((a, b) => weight(b) - weight(a));
}

/** Playwright's errors about a process of the suite that ended or never answered. Only its output can say why. */
const ofPlaywright =
  /Process from config\.webServer (?:was not able to start|exited early)|Timed out waiting \d+ ?ms from config\.webServer|^Error: Playwright ended |verify\.prepare failed/;
/** What package managers, task runners and shells print about a program that failed. They never say why. */
const wrapper =
  /^(?:> |\$ |npm (?:ERR!|error|warn|WARN|notice)|\s?WARN\b|warning |\(node:\d+\) |\(Use `node --trace|(?:error |Error: )?[Cc]ommand (?:failed|"[^"\n]{0,300}" exited|exited|finished)\b|ERROR: .{0,200} (?:exited|failed) with|.{0,40}\bELIFECYCLE\b|.{0,60}\bERR_PNPM_RECURSIVE|info Visit |.{0,200}\b(?:exited|failed|ended|finished|terminated)(?: (?:early|unexpectedly))?(?: with| \()? ?(?:exit )?(?:code|status|signal)\b|(?:make|gmake)(?:\[\d+\])?: \*\*\*|Error: Process (?:from|completed)|Error: Timed out waiting|Error: Playwright ended|\s*(?:Run|See|Try|For) ['"`\w].{0,200}(?:--help|more information|for details|logs?)\b|.{0,60}A complete log of this run|Tasks: |Failed: |Cached: |Time: |Caused by:?$|Node\.js v\d|exit status \d|Exit code:?)/;
/** A line of a stack, of an excerpt of code or of an error object: it belongs to the message above. */
const belongs =
  /^\s*(?:at |\d{1,5} ?[|│]|>? ?\d{1,5} [|│]|[|│^~]+\s*$|[{}[\]()]+[,;]?$|\w+: .{0,300},$|\w+: (?:'[^']*'|\d+|null|undefined|\[\w+\])$|File "|goroutine \d|from \S+:\d+:in )|node:internal\/|^\s*$/;
const complains =
  /\b(?:error|exception|fatal|panic|fail(?:ed|ure)?|cannot|can't|could not|couldn't|unable|no such|not found|missing|invalid|unknown|denied|refused|required?|must|unsupported|unexpected|undefined|already|expected)\b|(?:Error|Exception)\b/i;

/**
 * Returns the line in which a process of the suite says why it ended: the first complaint of its output, except those of wrappers, or else the
 * last line. Returns null if Playwright's error is about something else, or if the process printed nothing.
 */
function lastWords({ errors, serverOutput }: Pick<Evidence, 'errors' | 'serverOutput'>): string | null {
  if (!errors.some(({ message }) => ofPlaywright.test(message))) return null;
  const lines = withoutLinePrefixes(stripAnsi(serverOutput.slice(-16_000)))
    .split('\n')
    .filter((line) => !belongs.test(line) && !wrapper.test(line.trim()) && !ofPlaywright.test(line));
  const complaint = lines.find((line) => complains.test(line)) ?? lines.at(-1);
  return complaint?.trim().slice(0, 300) ?? null;
}
