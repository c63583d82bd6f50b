import type { DiagnosedFailure } from '../model/cause.js';
import { splitUrl, createOwnUrlCheck, formatAddress } from '../urls.js';
import { stripAnsi } from '../visible-text.js';
import { parseComplaint, orderErrors } from './complaint.js';
import { isDecisive, removeColumn, type Reason } from '../model/diagnosis.js';
import type { Evidence } from '../model/evidence.js';
import { normalize } from './normalize.js';

/** The sources that report the cause itself instead of its symptom in the test, from the closest to the cause. */
const rootSources: readonly Reason['source'][] = ['server', 'network', 'console', 'page'];

/**
 * Returns the keys of a failure's cause. Failures with a common key have the same cause, even if their messages differ. The key of a `ui-error`
 * without deeper evidence is the awaited element and its fault.
 */
export function listRootKeys(failure: DiagnosedFailure): string[] {
  const origin = findDeadServer(failure);
  const deadServerKey = origin === null ? null : `dead server | ${origin}`;
  const database = createDatabaseKey(failure);
  const reasons = [...listExceptionKeys(failure), ...(database === null ? [] : [database])];
  const keys = [
    deadServerKey,
    ...reasons,
    ...listExplainedEndpointKeys(failure, reasons),
    createEndpointKey(failure),
    createSymptomKey(failure),
    createBlankPageKey(failure),
    createErrorPageKey(failure),
  ];
  return keys.filter((key) => key !== null);
}

/**
 * Returns a key that groups the failures of a test in several projects or repetitions: its line and the kind of failure, but not locators and
 * values, which may contain a project's name or a random user. Null if the line is unknown.
 */
export function createSameTestKey({ diagnosis, evidence, failure }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error' || failure.scope === 'suite') return null;
  const at = orderErrors(evidence.errors)[0]?.location;
  const { kind, call } = parseComplaint(evidence.errors);
  if (!at || kind === 'other') return null;
  return [...failure.test.titlePath, `${at.file}:${at.line}`, kind, call].join(' | ');
}

/** Keys that different causes can share: a response that a proxy or middleware gives for all endpoints, and mere symptoms. */
const ambiguousKey = /→ (?:401|403|407|429|5\d\d)$|^(?:symptom|blank) \| /;

/** True if two failures have different causes according to their root keys, even if their messages are alike. */
export function haveDifferentRoots(a: Iterable<string>, b: Iterable<string>): boolean {
  const [keys = [], others = []] = [a, b].map((all) => [...all].filter((key) => !ambiguousKey.test(key)));
  return keys.length > 0 && others.length > 0 && !keys.some((key) => others.includes(key));
}

/** Returns keys for the deciding evidence outside the test's own error: one with its line, one with the enclosing function. */
function listExceptionKeys({ diagnosis, evidence }: DiagnosedFailure): string[] {
  const { category, facts } = diagnosis;
  const root = findRootReason(diagnosis.why);
  if (!root || category === 'ui-error' || (category === 'unknown' && root.source !== 'server')) return [];
  // Some logs print an exception with its name and again without it.
  const message = root.evidence.replace(/^(?:Uncaught )?(?:\w{0,60}Error: )?/, '');
  const normalized =
    root.source === 'network'
      ? reduceToEndpoint(message)
      : normalize(root.source === 'server' ? message.replaceAll(requestInLine, '$1 <path>') : message);
  const key = ['root', category, normalized];
  // The bundler, the browser and the overlay print the same error in different words.
  if (category === 'build-error' && facts.source !== null)
    return [key.join(' | '), ['root', category, removeColumn(facts.source)].join(' | ')];
  if (category !== 'runtime-error' || facts.source === null) return [key.join(' | ')];
  const [file = '', line] = facts.source.split(/:(?=\d+(?::\d+)?$)/);
  const functionName = findFunction(evidence, facts.source);
  return [
    [...key, `${file}:${line?.split(':')[0] ?? ''}`].join(' | '),
    ...(functionName === null ? [] : [[...key, file, `${functionName}()`].join(' | ')]),
  ];
}

/** A request in a log line. The key ignores its path, because the same fault affects several requests. */
const requestInLine = /\b(GET|POST|PUT|PATCH|DELETE) \/[^\s"']*/g;

/** True if the second key adds a detail to the first: the position of an exception, or the reason of a failed request. */
export function isExtendedBy(key: string, longer: string): boolean {
  return /^(?:root \| runtime-error|endpoint) \| /.test(key) && longer.startsWith(`${key} | `);
}

/** Returns the most confident deciding reason from `rootSources`; among equals, the one closest to the cause. */
function findRootReason(why: readonly Reason[]): Reason | undefined {
  const decisive = why.filter(
    ({ confidence, source }) => isDecisive(confidence) && rootSources.includes(source),
  );
  const getRank = ({ source }: Reason) => rootSources.indexOf(source);
  return decisive.toSorted((a, b) => b.confidence - a.confidence || getRank(a) - getRank(b))[0];
}

/** Returns the name of the function at a position in a stack or a traceback; null if it has none. */
function findFunction({ console, serverOutput, errors }: Evidence, source: string): string | null {
  const stacks = [...console.map(({ stack }) => stack), ...errors.map(({ stack }) => stack), serverOutput];
  for (const stack of stacks) {
    const lines = stripAnsi(stack ?? '').split('\n');
    const line = lines.find((frame) => frame.includes(`${source})`));
    const name = /^\s*at (?:async )?([\w$.<>]{1,100}) \(/.exec(line ?? '')?.[1];
    if (name && !/anonymous/.test(name)) return name;
  }
  return findPythonFunction(serverOutput, source);
}

/** Python calls a comprehension's own frame `<listcomp>`, and the frame above it is the function that contains it. */
function findPythonFunction(traceback: string, source: string): string | null {
  const [, file = '', line = ''] = /^(?:\.\.\/)*(.+?):(\d+)$/.exec(source) ?? [];
  const frames = Array.from(
    traceback.matchAll(/\bFile "([^"\n]{1,300})", line (\d{1,7}), in ([\w<>]{1,100})/g),
    ([, path = '', at = '', name = '']) => ({ path, at, name }),
  ).filter(({ path }) => `/${path}`.endsWith(`/${file}`));
  const last = frames.findIndex(({ at }) => at === line);
  return frames.slice(0, last + 1).findLast(({ name }) => !name.startsWith('<'))?.name ?? null;
}

/** A database's message names the faulty object in every channel. */
function createDatabaseKey({ diagnosis: { category, why, facts } }: DiagnosedFailure): string | null {
  const { table, column, constraint, policy } = facts;
  if (category !== 'database-error' || (table ?? column ?? constraint ?? policy) === null) return null;
  return ['database', why[0]?.rule, table, column, constraint, policy].join(' | ');
}

/** A failed page request is the cause even if tests need different parts of its response. */
function createEndpointKey({ diagnosis: { category, why, facts } }: DiagnosedFailure): string | null {
  if (category !== 'network-error' || facts.endpoint === null) return null;
  const isDecidedByRequest = why.some(
    ({ source, confidence }) => source === 'network' && isDecisive(confidence),
  );
  return isDecidedByRequest ? `endpoint | ${reduceToEndpoint(facts.endpoint)}` : null;
}

/** Returns keys for a failed request with the reason that its response or the server gives. */
function listExplainedEndpointKeys(
  { diagnosis: { category, why, facts } }: DiagnosedFailure,
  reasons: readonly string[],
): string[] {
  const { endpoint } = facts;
  const isReported = why[0]?.source === 'network' || why[0]?.source === 'server';
  if (
    category === 'network-error' ||
    endpoint === null ||
    !isReported ||
    !/→ (?:5\d\d$|2\d\d with GraphQL error)/.test(endpoint)
  )
    return [];
  return reasons.map((reason) => `endpoint | ${reduceToEndpoint(endpoint)} | ${reason}`);
}

function createSymptomKey({ diagnosis, evidence }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error') return null;
  const { kind, subject, detail } = parseComplaint(evidence.errors);
  // One covering element blocks every element beneath it.
  if (kind === 'covered') return `covered | ${detail}`;
  if (subject === null || kind === 'other') return null;
  return ['symptom', subject, kind, normalize(detail ?? '')].join(' | ');
}

/** On a blank page every element is missing, so the key ignores which one a test expected. */
function createBlankPageKey({ diagnosis, evidence }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error' || evidence.ariaSnapshot !== '') return null;
  const page = evidence.pageUrl === null ? null : splitUrl(evidence.pageUrl);
  return page !== null && parseComplaint(evidence.errors).kind === 'missing'
    ? `blank | ${page.origin}`
    : null;
}

/** On a page that shows only an error every element is missing, so the key is that error. */
function createErrorPageKey({ diagnosis, evidence }: DiagnosedFailure): string | null {
  const { ariaSnapshot, errors } = evidence;
  if (diagnosis.category !== 'ui-error' || !ariaSnapshot || ariaSnapshot.length > MAX_ERROR_PAGE) return null;
  const errorLine = ariaSnapshot.split('\n').find((line) => errorWords.test(line));
  return errorLine !== undefined && parseComplaint(errors).kind === 'missing'
    ? `page | ${normalize(ariaSnapshot)}`
    : null;
}

const MAX_ERROR_PAGE = 600;
const errorWords =
  /\b(?:\w*Error|error|failed|wrong|could not|cannot|can't|unable|invalid|unexpected|not valid)\b/i;

/** Reduces a request line to its endpoint and status: drops the query, and replaces ids in the path with `<id>`. */
export function reduceToEndpoint(line: string): string {
  const withoutIds = line.replace(/\?\S*/, '').replace(/\/\d+(?=\/|\s|$)/g, '/<id>');
  // Normalizes each part by itself, because a whole path would be reduced to the file's name.
  return withoutIds.split('/').map(normalize).join('/');
}

/** The number of failures from which refused connections count as a failure of the environment (HL-7). */
const MIN_FAILURES = 3;
const refusedConnection =
  /(?:ERR_CONNECTION_REFUSED|NS_ERROR_CONNECTION_REFUSED|Could not connect to server|ECONNREFUSED)/;
const urlOrigin = /(https?:\/\/[^\s"'/)]{1,260})/;
const hostAndPort = /ECONNREFUSED ((?:\d{1,3}\.){3}\d{1,3}|[\da-f:]{2,40}|[\w.-]{1,200}):(\d{2,5})/i;

/** Returns the origin that refused connections in this failure; null if there is none, or if the server's output says why. */
function findDeadServer({ evidence, diagnosis }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'network-error' || diagnosis.why.some(({ source }) => source === 'server'))
    return null;
  const line = evidence.errors
    .map(({ message }) => message)
    .find((message) => refusedConnection.test(message));
  if (line === undefined) return findRefusedOrigin(evidence);
  return parseRefusedOrigin(line);
}

/**
 * Returns why no agent can help with these failures of one cause (HL-7), or null: the machine lacks something, Playwright refuses to run any test,
 * the tests pass although they are marked with `test.fail()`, or many of them failed on the same dead server.
 */
export function explainEnvironment(members: readonly DiagnosedFailure[]): string | null {
  const [advice, ...others] = new Set(
    members.map(({ diagnosis, machine = diagnosis.advice }) => machine ?? null),
  );
  if (advice && others.length === 0) return advice;
  // Only a person may remove the mark. An agent could turn the test green only by breaking the app.
  if (members.every(({ failure }) => failure.scope === 'test' && failure.status === 'passed'))
    return 'it passes although it is marked to fail: if the feature works now, remove its `test.fail`';
  const origins = new Set(members.map(findDeadServer));
  const [origin] = origins;
  if (origins.size !== 1 || !origin || members.length < MIN_FAILURES) return null;
  return `${origin} refuses connections: ${members.length} tests failed the same way, and the evidence does not say why`;
}

/** Returns the origin of a refused request to the app. Requests to other sites do not count, because they say nothing about the app's servers. */
function findRefusedOrigin(evidence: Evidence): string | null {
  const isOwnUrl = createOwnUrlCheck(evidence);
  const request = evidence.network.find(
    ({ failure, url }) => failure !== null && refusedConnection.test(failure) && isOwnUrl(url),
  );
  return request ? (urlOrigin.exec(request.url)?.[1] ?? null) : null;
}

function parseRefusedOrigin(message: string): string | null {
  const from = message.search(refusedConnection);
  const url = urlOrigin.exec(message.slice(from))?.[1] ?? urlOrigin.exec(message)?.[1];
  if (url) return url;
  const [, host, port] = hostAndPort.exec(message) ?? [];
  return host && port ? `http://${formatAddress(host, port)}` : null;
}
