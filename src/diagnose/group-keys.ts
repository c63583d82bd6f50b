import type { DiagnosedFailure } from '../model/cause.js';
import { splitUrl, ownOrigin } from '../urls.js';
import { stripAnsi } from '../visible-text.js';
import { complaintOf, tellingErrors } from './complaint.js';
import { isDecisive, withoutColumn, type Reason } from '../model/diagnosis.js';
import type { Evidence } from '../model/evidence.js';
import { normalise } from './normalise.js';

/** The sources that report the cause itself rather than its symptom in the test, closest to the cause first. */
const rootSources: readonly Reason['source'][] = ['server', 'network', 'console', 'page'];

/**
 * Returns the keys that failures of the same cause share, however their symptoms are worded; one common key is enough. A `ui-error`
 * without deeper evidence is identified by what the test waited for and what was wrong with it.
 */
export function rootKeys(failure: DiagnosedFailure): string[] {
  const origin = deadServer(failure);
  const dead = origin === null ? null : `dead server | ${origin}`;
  const database = databaseKey(failure);
  const reasons = [...exceptionKeys(failure), ...(database === null ? [] : [database])];
  const keys = [
    dead,
    ...reasons,
    ...explainedEndpointKeys(failure, reasons),
    endpointKey(failure),
    symptomKey(failure),
    blankPageKey(failure),
    errorPageKey(failure),
  ];
  return keys.filter((key) => key !== null);
}

/**
 * Returns the key that a test shares with itself in other projects (or repetitions) if it fails there at the same line in the same way. Its
 * locators and values are not part of the key, since they may contain a project's name or a random user. Returns null if no line is known.
 */
export function sameTestKey({ diagnosis, evidence, failure }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error' || failure.scope === 'suite') return null;
  const at = tellingErrors(evidence.errors)[0]?.location;
  const { kind, call } = complaintOf(evidence.errors);
  if (!at || kind === 'other') return null;
  return [...failure.test.titlePath, `${at.file}:${at.line}`, kind, call].join(' | ');
}

/**
 * Keys that do not tell causes apart: an answer that a proxy or middleware can give for all endpoints, and symptoms of a cause that only
 * another failure's evidence shows.
 */
const untelling = /→ (?:401|403|407|429|5\d\d)$|^(?:symptom|blank) \| /;

/** Whether two failures, as described by their root keys, have different causes although their errors may be worded alike. */
export function haveDifferentRoots(a: Iterable<string>, b: Iterable<string>): boolean {
  const [keys = [], others = []] = [a, b].map((all) => [...all].filter((key) => !untelling.test(key)));
  return keys.length > 0 && others.length > 0 && !keys.some((key) => others.includes(key));
}

/** Returns keys made of the deciding evidence outside the test's own error, combined with its line and with the function around it. */
function exceptionKeys({ diagnosis, evidence }: DiagnosedFailure): string[] {
  const { category, facts } = diagnosis;
  const root = rootReason(diagnosis.why);
  if (!root || category === 'ui-error' || (category === 'unknown' && root.source !== 'server')) return [];
  // Some logs print an exception with its name and again without it.
  const message = root.evidence.replace(/^(?:Uncaught )?(?:\w{0,60}Error: )?/, '');
  const normalized =
    root.source === 'network'
      ? withoutQuery(message)
      : normalise(root.source === 'server' ? message.replaceAll(requested, '$1 <path>') : message);
  const key = ['root', category, normalized];
  // The bundler, the browser and the overlay word an error of one line differently.
  if (category === 'build-error' && facts.source !== null)
    return [key.join(' | '), ['root', category, withoutColumn(facts.source)].join(' | ')];
  if (category !== 'runtime-error' || facts.source === null) return [key.join(' | ')];
  const [file = '', line] = facts.source.split(/:(?=\d+(?::\d+)?$)/);
  const within = functionAt(evidence, facts.source);
  return [
    [...key, `${file}:${line?.split(':')[0] ?? ''}`].join(' | '),
    ...(within === null ? [] : [[...key, file, `${within}()`].join(' | ')]),
  ];
}

/** A request that a log line names: the same fault answers several of them. */
const requested = /\b(GET|POST|PUT|PATCH|DELETE) \/[^\s"']*/g;

/**
 * Whether the first key is that of an exception without a position or of a failed request without a reason, and the second adds the position
 * or the reason.
 */
export function isKnownBy(untold: string, key: string): boolean {
  return /^(?:root \| runtime-error|endpoint) \| /.test(untold) && key.startsWith(`${untold} | `);
}

/** Returns the most confident deciding reason of those sources; among equals, the one closest to the cause. */
function rootReason(why: readonly Reason[]): Reason | undefined {
  const sure = why.filter(({ confidence, source }) => isDecisive(confidence) && rootSources.includes(source));
  const rank = ({ source }: Reason) => rootSources.indexOf(source);
  return sure.toSorted((a, b) => b.confidence - a.confidence || rank(a) - rank(b))[0];
}

/** Returns the function that a stack names for a position; null if it has no name. */
function functionAt({ console, serverOutput, errors }: Evidence, source: string): string | null {
  const stacks = [...console.map(({ stack }) => stack), ...errors.map(({ stack }) => stack), serverOutput];
  for (const stack of stacks) {
    const line = stripAnsi(stack ?? '')
      .split('\n')
      .find((frame) => frame.includes(`${source})`));
    const name = /^\s*at (?:async )?([\w$.<>]{1,100}) \(/.exec(line ?? '')?.[1];
    if (name && !/anonymous/.test(name)) return name;
  }
  return null;
}

/** A database names the faulty object, whichever channel its message arrives in. */
function databaseKey({ diagnosis: { category, why, facts } }: DiagnosedFailure): string | null {
  const { table, column, constraint, policy } = facts;
  if (category !== 'database-error' || (table ?? column ?? constraint ?? policy) === null) return null;
  return ['database', why[0]?.rule, table, column, constraint, policy].join(' | ');
}

/** A failed request of the page is the cause, whichever part of the response each test needed. */
function endpointKey({ diagnosis: { category, why, facts } }: DiagnosedFailure): string | null {
  if (category !== 'network-error' || facts.endpoint === null) return null;
  const isDecidedByRequest = why.some(
    ({ source, confidence }) => source === 'network' && isDecisive(confidence),
  );
  return isDecidedByRequest ? `endpoint | ${withoutQuery(facts.endpoint)}` : null;
}

/** Returns keys for a failed request with the reason that its answer or the server gives. */
function explainedEndpointKeys(
  { diagnosis: { category, why, facts } }: DiagnosedFailure,
  reasons: readonly string[],
): string[] {
  const { endpoint } = facts;
  const isSaid = why[0]?.source === 'network' || why[0]?.source === 'server';
  if (
    category === 'network-error' ||
    endpoint === null ||
    !isSaid ||
    !/→ (?:5\d\d$|2\d\d with GraphQL error)/.test(endpoint)
  )
    return [];
  return reasons.map((reason) => `endpoint | ${withoutQuery(endpoint)} | ${reason}`);
}

function symptomKey({ diagnosis, evidence }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error') return null;
  const { kind, subject, detail } = complaintOf(evidence.errors);
  // An element that covers the page blocks every element beneath it.
  if (kind === 'covered') return `covered | ${detail}`;
  if (subject === null || kind === 'other') return null;
  return ['symptom', subject, kind, normalise(detail ?? '')].join(' | ');
}

/** On a blank page every element is missing, so it does not matter which one a test looked for. */
function blankPageKey({ diagnosis, evidence }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'ui-error' || evidence.ariaSnapshot !== '') return null;
  const page = evidence.pageUrl === null ? null : splitUrl(evidence.pageUrl);
  return page !== null && complaintOf(evidence.errors).kind === 'missing' ? `blank | ${page.origin}` : null;
}

/** A page that shows nothing but an error shows it in place of whatever a test looked for. */
function errorPageKey({ diagnosis, evidence }: DiagnosedFailure): string | null {
  const { ariaSnapshot, errors } = evidence;
  if (diagnosis.category !== 'ui-error' || !ariaSnapshot || ariaSnapshot.length > longestErrorPage)
    return null;
  const said = ariaSnapshot.split('\n').find((line) => saysError.test(line));
  return said !== undefined && complaintOf(errors).kind === 'missing'
    ? `page | ${normalise(ariaSnapshot)}`
    : null;
}

const longestErrorPage = 600;
const saysError =
  /\b(?:\w*Error|error|failed|wrong|could not|cannot|can't|unable|invalid|unexpected|not valid)\b/i;

/** Reduces a request and its answer to the endpoint: `POST /api/orders?page=2 → 500` without its query, order ids made equal. */
export function withoutQuery(line: string): string {
  const named = line.replace(/\?\S*/, '').replace(/\/\d+(?=\/|\s|$)/g, '/<id>');
  // Each part is normalized by itself, since normalizing reduces a path to the file's name.
  return named.split('/').map(normalise).join('/');
}

/** From this many failures on, refused connections count as a failure of the environment (HL-7). */
const many = 3;
const refused =
  /(?:ERR_CONNECTION_REFUSED|NS_ERROR_CONNECTION_REFUSED|Could not connect to server|ECONNREFUSED)/;
const address = /(https?:\/\/[^\s"'/)]{1,260})/;
const hostAndPort = /ECONNREFUSED ((?:\d{1,3}\.){3}\d{1,3}|[\da-f:]{2,40}|[\w.-]{1,200}):(\d{2,5})/i;

/** Returns the origin that refused connections in this failure, or null if there is none or the server's output says why. */
function deadServer({ evidence, diagnosis }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'network-error' || diagnosis.why.some(({ source }) => source === 'server'))
    return null;
  const line = evidence.errors.map(({ message }) => message).find((message) => refused.test(message));
  if (line === undefined) return refusedRequest(evidence);
  return originIn(line);
}

/**
 * Returns why no agent can help with these failures of one cause (HL-7), or null. The machine may lack something, Playwright may refuse to run
 * any test, the tests may pass although they are marked with `test.fail()`, or many of them may have failed on the same dead server.
 */
export function environmentOf(members: readonly DiagnosedFailure[]): string | null {
  const [advice, ...others] = new Set(
    members.map(({ diagnosis, machine = diagnosis.advice }) => machine ?? null),
  );
  if (advice && others.length === 0) return advice;
  // Only a person may remove the mark. An agent could turn the test green only by breaking the app.
  if (members.every(({ failure }) => failure.scope === 'test' && failure.status === 'passed'))
    return 'it passes although it is marked to fail: if what it tests works now, remove its `test.fail`';
  const origins = new Set(members.map(deadServer));
  const [origin] = origins;
  if (origins.size !== 1 || !origin || members.length < many) return null;
  return `${origin} refuses connections: ${members.length} tests failed the same way, and the evidence does not say why`;
}

/** Returns the origin of the app's own request that was refused; a request to another site says nothing about the app's servers. */
function refusedRequest(evidence: Evidence): string | null {
  const own = ownOrigin(evidence);
  const request = evidence.network.find(
    ({ failure, url }) => failure !== null && refused.test(failure) && own(url),
  );
  return request ? (address.exec(request.url)?.[1] ?? null) : null;
}

function originIn(message: string): string | null {
  const from = message.search(refused);
  const url = address.exec(message.slice(from))?.[1] ?? address.exec(message)?.[1];
  if (url) return url;
  const [, host, port] = hostAndPort.exec(message) ?? [];
  return host && port ? `http://${host.includes(':') ? `[${host}]` : host}:${port}` : null;
}
