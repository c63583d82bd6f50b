import { removeEllipsis, type EvidenceSource, type Facts, type Reason } from '../model/diagnosis.js';
import { findLocator, orderErrors } from './complaint.js';
import { type Evidence, hasFailed, isErrorEntry } from '../model/evidence.js';
import { isRefusal } from './graphql-errors.js';
import { clipText, removeLinePrefixes } from './evidence-texts.js';
import {
  type DatabaseFacts,
  parseDatabaseFacts,
  noDatabaseFacts,
  parsePostgrestTable,
  restoreStatement,
} from './database-facts.js';
import { findOwnFrame, type OwnCode, findOwnPath } from './own-frame.js';
import { createOwnUrlCheck } from '../urls.js';
import type { EvidenceText } from './match.js';
import { findNamedRequests } from './named-requests.js';
import {
  shortenUrl,
  formatEndpoint,
  readErrorPage,
  findFailedRequests,
  mayShowAppError,
} from './requests.js';
import { findTextBelow, findServerFrame } from './server-frame.js';
import { stripAnsi } from '../visible-text.js';

/** The matches of a classification. */
export interface Findings {
  readonly texts: readonly EvidenceText[];
  /** All rules that matched. */
  readonly reasons: readonly Reason[];
  /** The deciding reasons. */
  readonly why: readonly Reason[];
}

const errorName =
  /^\s*(?:Uncaught (?:\(in promise\) )?)?(?:[\w.]{1,80}\.)?([A-Z]\w{0,60}(?:Error|Exception)|Error)(?: \[\w{1,60}\])?:/;
const navigationError = /\b(net::ERR_\w+|NS_ERROR_\w+) at (https?:\/\/\S{1,300})/;

/** Returns the facts that the evidence names explicitly. */
export function collectFacts(evidence: Evidence, findings: Findings): Facts {
  const message = clipText(orderErrors(evidence.errors)[0]?.message ?? '', 4000);
  const hasDatabaseError = findings.reasons.some(({ category }) => category === 'database-error');
  const worstRequest = findWorstRequest(evidence);
  const facts = hasDatabaseError ? collectDatabaseFacts(findings) : noDatabaseFacts;
  return {
    errorType: errorName.exec(stripAnsi(message.slice(0, 200)))?.[1] ?? 'Error',
    source: findSource(evidence, findings.why),
    ...facts,
    sql: facts.sql && restoreStatement(facts.sql, facts.column ?? facts.table, listRawTexts(evidence)),
    table: facts.table ?? (worstRequest && parsePostgrestTable(worstRequest.url)),
    endpoint: worstRequest ? formatEndpoint(worstRequest) : findNavigation(message),
    locator: readLocator(evidence),
  };
}

function listRawTexts({ errors, serverOutput, network }: Evidence): string[] {
  const messages = errors.flatMap(({ message, causes }) => [message, ...causes]);
  return [...messages, serverOutput, ...network.flatMap(({ responseBody }) => responseBody ?? [])];
}

/**
 * Returns the facts of the most certain database error, from its line first and then from its whole channel, because details are on separate
 * lines. Another channel adds facts only about the same object, because a server may log a later, unrelated error.
 */
function collectDatabaseFacts({ texts, reasons }: Findings): DatabaseFacts {
  const sorted = reasons
    .filter(({ category }) => category === 'database-error')
    .toSorted((a, b) => b.confidence - a.confidence);
  const sources = [...new Set(sorted.map(({ source }) => source))];
  const factsBySource = sources.map((from) => {
    const lines = sorted.flatMap(({ source, evidence }) => (source === from ? [evidence] : []));
    const channels = texts.flatMap(({ source, text }) => (source === from ? [text] : []));
    return parseDatabaseFacts([...lines, ...channels].join('\n'));
  });
  return factsBySource.reduce((facts, others) =>
    areAboutSameObject(facts, others) ? fillMissingFacts(facts, others) : facts,
  );
}

const objectKinds = ['table', 'column', 'constraint', 'policy'] as const;

function areAboutSameObject(facts: DatabaseFacts, others: DatabaseFacts): boolean {
  return (
    objectKinds.every((name) => facts[name] === null) ||
    objectKinds.some((name) => facts[name] !== null && facts[name] === others[name])
  );
}

function fillMissingFacts(facts: DatabaseFacts, others: DatabaseFacts): DatabaseFacts {
  const set = Object.entries(facts).filter(([, value]) => value !== null);
  return { ...others, ...Object.fromEntries(set) };
}

/** Returns the worst of the app's own failed requests: server errors first, and the latest among equals. */
function findWorstRequest(evidence: Evidence) {
  if (evidence.network.length === 0) return null;
  const failed = findFailedRequests(evidence, createOwnUrlCheck(evidence)).filter(
    ({ failure, common }) => !common && !failure?.includes('ERR_ABORTED'),
  );
  const { named } = findNamedRequests(failed, evidence);
  return named.findLast((entry) => !isRefusal(entry)) ?? named.at(-1) ?? null;
}

function findNavigation(message: string): string | null {
  const match = message.includes(' at http') ? navigationError.exec(message) : null;
  return match ? `GET ${shortenUrl(match[2] ?? '') || '/'} → ${match[1]}` : null;
}

function readLocator({ errors }: Evidence): string | null {
  const locators = orderErrors(errors).map(({ message }) => findLocator(stripAnsi(clipText(message, 8000))));
  return locators.find((locator) => locator !== null) ?? null;
}

/**
 * Finds the failing line in the deciding evidence; the test's line only shows where the test noticed the fault. Compilers name the file next to the
 * error, often without a position. If the page only repeats an exception in the server, the frames are in the server's output.
 */
function findSource(evidence: Evidence, [decidingReason, ...others]: readonly Reason[]): string | null {
  const getMessage = (reason: Reason | undefined) => reason?.evidence.replace(/^Uncaught /, '');
  const isAnswer = (reason: Reason) => decidingReason?.source === 'server' && reason.source === 'network';
  const repetitions = others.filter(
    (other) =>
      other.source !== decidingReason?.source &&
      (getMessage(other) === getMessage(decidingReason) || isAnswer(other)),
  );
  const positions = [decidingReason, ...repetitions].map((reason) => findPosition(evidence, reason));
  return positions.find((position) => position !== null) ?? readReportedPosition(evidence);
}

/** Returns Playwright's position of an error outside of the tests, which has no stack. */
function readReportedPosition(evidence: Evidence): string | null {
  const { errors, pageUrl, network, rootDir, workspaceDir } = evidence;
  const at = errors.find(({ location }) => location)?.location;
  if (!at || pageUrl !== null || network.length > 0) return null;
  const path = findOwnPath(at.file.replaceAll('\\', '/'), {
    rootDir,
    workspaceDir,
    isOwnUrl: createOwnUrlCheck(evidence),
  });
  return path === null ? null : `${path}:${at.line}`;
}

/** Playwright's list of the tests of a worker whose teardown failed: `[chromium] › e2e/cart.spec.ts:3:1 › adds`. */
const failedWorkerTests = /^Failed worker ran \d[^\n]*:\n(?:[^\n]* › [^\n]*(?:\n|$))*/gm;

function findPosition(evidence: Evidence, reason: Reason | undefined): string | null {
  const { rootDir, workspaceDir } = evidence;
  const code = { rootDir, workspaceDir, isOwnUrl: createOwnUrlCheck(evidence) };
  const isBuildError = reason?.category === 'build-error';
  const stacks = listStacks(evidence, reason?.source ?? 'error').map((text) =>
    removeLinePrefixes(stripAnsi(text ?? '')).replace(failedWorkerTests, ''),
  );
  const serverFrame = stacks
    .map((text) => reason && findServerFrame(text, reason.evidence, code))
    .find(Boolean);
  if (serverFrame) return serverFrame;
  const texts = stacks.flatMap((text) => {
    const excerpt = clipText(text, 8000);
    if (reason?.source === 'server' && !isBuildError) return [findTextBelow(text, reason.evidence), excerpt];
    return isBuildError ? [findTextAround(excerpt, reason.evidence), excerpt] : [excerpt];
  });
  const findTextPosition = (text: string) =>
    findOwnFrame(text, code) ?? (isBuildError ? findCompileErrorLocation(text, code) : null);
  return texts.map(findTextPosition).find((position) => position !== null) ?? null;
}

function listStacks(evidence: Evidence, source: EvidenceSource): (string | null)[] {
  if (source === 'console') {
    const entries = evidence.console.filter((entry) => !entry.common && isErrorEntry(entry));
    return entries.flatMap(({ stack, text, location }) => [stack, text, location]);
  }
  if (source === 'server') return [evidence.serverOutput, ...evidence.network.map(readErrorPage)];
  if (source === 'network')
    return evidence.network
      .filter((entry) => hasFailed(entry) && mayShowAppError(entry))
      .map(({ responseBody }) => responseBody);
  return orderErrors(evidence.errors).flatMap(({ stack, message }) => [stack, message]);
}

const filePattern = String.raw`((?:[A-Za-z]:)?[\p{L}\p{M}\p{N}_.@~$()[\]/\\-]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?|s?css|sass|less))`;

/** The formats in which compilers name the faulty file, most precise first: the file, with line and column if given. */
const fileMentions = [
  // tsc, Rollup: `src/a.ts(3,5)`, `src/a.ts (3:5)`; Babel: `/srv/src/a.js: Unexpected token (3:5)`
  new RegExp(String.raw`${filePattern}(?: ?|: [^\n()]{1,200} )\((\d{1,7})[,:](\d{1,7})\)`, 'gu'),
  // webpack, Rspack, Sass: `./src/a.js 3:0-28`
  new RegExp(String.raw`${filePattern}:? (\d{1,7}):(\d{1,7})\b`, 'gu'),
  // the importer of something that could not be found: `Could not resolve "./x" from "src/a.ts"`
  new RegExp(String.raw`\b(?:from|by|in|[Ff]ile:?) ["'\x60]?${filePattern}(?!\w|:\d)`, 'gu'),
  // a heading: `./src/app/page.tsx`
  new RegExp(String.raw`^[ \t]{0,4}(?:(?:ERROR|Error) in )?${filePattern}[ \t]*$`, 'gmu'),
];
/** Node's output for a syntax error: `file:///srv/server.mjs:12`, the line itself, and a caret under the faulty part. */
const caretPattern = new RegExp(
  String.raw`^(?:file://)?${filePattern}:(\d{1,7})\n[^\n]{0,1000}\n([ \t]{0,1000})\^`,
  'gmu',
);
/** How far around the error to search for the file's name: it may be a heading above, or in the excerpt below. */
const charactersAbove = 300;
const charactersBelow = 2_000;

/** Returns the file, relative to the project, in which a compiler reports an error, with line and column if given; null if there is none. */
function findCompileErrorLocation(text: string, code: OwnCode): string | null {
  for (const [, address = '', line, indent = ''] of text.matchAll(caretPattern)) {
    const path = findOwnPath(address, code);
    if (path !== null) return `${path}:${line}:${indent.length + 1}`;
  }
  for (const naming of fileMentions)
    for (const [, address = '', line, column] of text.matchAll(naming)) {
      const path = findOwnPath(address.replaceAll('\\', '/'), code);
      if (path !== null) return line && column ? `${path}:${line}:${column}` : path;
    }
  return null;
}

/** Returns the text around one of its lines, or the whole text if the line is not in it. */
function findTextAround(text: string, line: string): string {
  const at = text.indexOf(removeEllipsis(line));
  return at === -1 ? text : text.slice(Math.max(0, at - charactersAbove), at + line.length + charactersBelow);
}
