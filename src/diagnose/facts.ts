import { asPrinted, type EvidenceSource, type Facts, type Reason } from '../model/diagnosis.js';
import { locatorIn, tellingErrors } from './complaint.js';
import { type Evidence, hasFailed, isAlarming } from '../model/evidence.js';
import { isRefusal } from './graphql-errors.js';
import { bounded, withoutLinePrefixes } from './evidence-texts.js';
import {
  type DatabaseFacts,
  databaseFacts,
  noDatabaseFacts,
  postgrestTable,
  wholeStatement,
} from './database-facts.js';
import { firstOwnFrame, type OwnCode, ownPath } from './own-frame.js';
import { ownOrigin } from '../urls.js';
import type { EvidenceText } from './match.js';
import { namedRequests } from './named-requests.js';
import { addressOf, endpointOf, errorPageText, failedRequests, mayTell } from './requests.js';
import { below, serverFrame } from './server-frame.js';
import { stripAnsi } from '../visible-text.js';

/** The texts, the matches and the deciding reasons of a classification. */
export interface FoundFacts {
  readonly texts: readonly EvidenceText[];
  readonly reasons: readonly Reason[];
  /** The deciding reasons. */
  readonly why: readonly Reason[];
}

const errorName =
  /^\s*(?:Uncaught (?:\(in promise\) )?)?(?:[\w.]{1,80}\.)?([A-Z]\w{0,60}(?:Error|Exception)|Error)(?: \[\w{1,60}\])?:/;
const navigation = /\b(net::ERR_\w+|NS_ERROR_\w+) at (https?:\/\/\S{1,300})/;

/** Returns the facts that the evidence names explicitly. */
export function factsOf(evidence: Evidence, findings: FoundFacts): Facts {
  const message = bounded(tellingErrors(evidence.errors)[0]?.message ?? '', 4000);
  const database = findings.reasons.some(({ category }) => category === 'database-error');
  const failed = failedRequestOf(evidence);
  const facts = database ? databaseFactsOf(findings) : noDatabaseFacts;
  return {
    errorType: errorName.exec(stripAnsi(message.slice(0, 200)))?.[1] ?? 'Error',
    source: sourceOf(evidence, findings.why),
    ...facts,
    sql: facts.sql && wholeStatement(facts.sql, facts.column ?? facts.table, rawTexts(evidence)),
    table: facts.table ?? (failed && postgrestTable(failed.url)),
    endpoint: failed ? endpointOf(failed) : navigationOf(message),
    locator: locatorOf(evidence),
  };
}

function rawTexts({ errors, serverOutput, network }: Evidence): string[] {
  const messages = errors.flatMap(({ message, causes }) => [message, ...causes]);
  return [...messages, serverOutput, ...network.flatMap(({ responseBody }) => responseBody ?? [])];
}

/**
 * Returns the facts of the most certain database error, from its line first and then from its whole channel, since details are on separate
 * lines. Another channel adds to them only if it is about the same object, since a server may have a later error of its own.
 */
function databaseFactsOf({ texts, reasons }: FoundFacts): DatabaseFacts {
  const spoken = reasons.filter(({ category }) => category === 'database-error');
  const sorted = spoken.toSorted((a, b) => b.confidence - a.confidence);
  const sources = [...new Set(sorted.map(({ source }) => source))];
  const factsBySource = sources.map((from) => {
    const lines = sorted.flatMap(({ source, evidence }) => (source === from ? [evidence] : []));
    const channels = texts.flatMap(({ source, text }) => (source === from ? [text] : []));
    return databaseFacts([...lines, ...channels].join('\n'));
  });
  return factsBySource.reduce((known, more) => (isAboutTheSame(known, more) ? filledIn(known, more) : known));
}

const names = ['table', 'column', 'constraint', 'policy'] as const;

function isAboutTheSame(known: DatabaseFacts, more: DatabaseFacts): boolean {
  return (
    names.every((name) => known[name] === null) ||
    names.some((name) => known[name] !== null && known[name] === more[name])
  );
}

function filledIn(known: DatabaseFacts, more: DatabaseFacts): DatabaseFacts {
  const set = Object.entries(known).filter(([, value]) => value !== null);
  return { ...more, ...Object.fromEntries(set) };
}

/** Returns the worst of the app's own failed requests: server errors first, and the latest among equals. */
function failedRequestOf(evidence: Evidence) {
  if (evidence.network.length === 0) return null;
  const failed = failedRequests(evidence, ownOrigin(evidence)).filter(
    ({ failure, common }) => !common && !failure?.includes('ERR_ABORTED'),
  );
  const { named } = namedRequests(failed, evidence);
  return named.findLast((entry) => !isRefusal(entry)) ?? named.at(-1) ?? null;
}

function navigationOf(message: string): string | null {
  const match = message.includes(' at http') ? navigation.exec(message) : null;
  return match ? `GET ${addressOf(match[2] ?? '') || '/'} → ${match[1]}` : null;
}

function locatorOf({ errors }: Evidence): string | null {
  const locators = tellingErrors(errors).map(({ message }) => locatorIn(stripAnsi(bounded(message, 8000))));
  return locators.find((locator) => locator !== null) ?? null;
}

/**
 * Finds the failing line in the deciding evidence: a page's exception does not come from the line of the test that noticed it.
 * Compilers name the file next to the error, often without a position. If the page only repeats an exception of the server, whose frames
 * it does not know, the server's output has them.
 */
function sourceOf(evidence: Evidence, [decided, ...others]: readonly Reason[]): string | null {
  const messageOf = (reason: Reason | undefined) => reason?.evidence.replace(/^Uncaught /, '');
  const answered = (reason: Reason) => decided?.source === 'server' && reason.source === 'network';
  const same = others.filter(
    (other) =>
      other.source !== decided?.source && (messageOf(other) === messageOf(decided) || answered(other)),
  );
  const positions = [decided, ...same].map((reason) => positionOf(evidence, reason));
  return positions.find((position) => position !== null) ?? reportedPosition(evidence);
}

/** Returns the position that Playwright reports for an error outside of the tests, whose message has no stack. */
function reportedPosition(evidence: Evidence): string | null {
  const { errors, pageUrl, network, rootDir, workspaceDir } = evidence;
  const at = errors.find(({ location }) => location)?.location;
  if (!at || pageUrl !== null || network.length > 0) return null;
  const path = ownPath(at.file.replaceAll('\\', '/'), { rootDir, workspaceDir, own: ownOrigin(evidence) });
  return path === null ? null : `${path}:${at.line}`;
}

/** Playwright's list of all tests of a worker whose teardown failed: `[chromium] › e2e/cart.spec.ts:3:1 › adds`. */
const ranBefore = /^Failed worker ran \d[^\n]*:\n(?:[^\n]* › [^\n]*(?:\n|$))*/gm;

function positionOf(evidence: Evidence, decided: Reason | undefined): string | null {
  const { rootDir, workspaceDir } = evidence;
  const code = { rootDir, workspaceDir, own: ownOrigin(evidence) };
  const built = decided?.category === 'build-error';
  const wholes = stacksOf(evidence, decided?.source ?? 'error').map((text) =>
    withoutLinePrefixes(stripAnsi(text ?? '')).replace(ranBefore, ''),
  );
  const ofServers = wholes.map((text) => decided && serverFrame(text, decided.evidence, code));
  const ofServer = ofServers.find(Boolean);
  if (ofServer) return ofServer;
  const texts = wholes.flatMap((text) => {
    const excerpt = bounded(text, 8000);
    if (decided?.source === 'server' && !built) return [below(text, decided.evidence), excerpt];
    return built ? [around(excerpt, decided.evidence), excerpt] : [excerpt];
  });
  const find = (text: string) => firstOwnFrame(text, code) ?? (built ? compiledFile(text, code) : null);
  return texts.map(find).find((position) => position !== null) ?? null;
}

function stacksOf(evidence: Evidence, decidedBy: EvidenceSource): (string | null)[] {
  if (decidedBy === 'console') {
    const entries = evidence.console.filter((entry) => !entry.common && isAlarming(entry));
    return entries.flatMap(({ stack, text, location }) => [stack, text, location]);
  }
  if (decidedBy === 'server') return [evidence.serverOutput, ...evidence.network.map(errorPageText)];
  if (decidedBy === 'network')
    return evidence.network
      .filter((entry) => hasFailed(entry) && mayTell(entry))
      .map(({ responseBody }) => responseBody);
  return tellingErrors(evidence.errors).flatMap(({ stack, message }) => [stack, message]);
}

const file = String.raw`((?:[A-Za-z]:)?[\p{L}\p{M}\p{N}_.@~$()[\]/\\-]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?|s?css|sass|less))`;

/** How compilers name the file with the error, most precise first: the file, with line and column if given. */
const namings = [
  // tsc, Rollup: `src/a.ts(3,5)`, `src/a.ts (3:5)`; Babel: `/srv/src/a.js: Unexpected token (3:5)`
  new RegExp(String.raw`${file}(?: ?|: [^\n()]{1,200} )\((\d{1,7})[,:](\d{1,7})\)`, 'gu'),
  // webpack, Rspack, Sass: `./src/a.js 3:0-28`
  new RegExp(String.raw`${file}:? (\d{1,7}):(\d{1,7})\b`, 'gu'),
  // the importer of something that could not be found: `Could not resolve "./x" from "src/a.ts"`
  new RegExp(String.raw`\b(?:from|by|in|[Ff]ile:?) ["'\x60]?${file}(?!\w|:\d)`, 'gu'),
  // a heading: `./src/app/page.tsx`
  new RegExp(String.raw`^[ \t]{0,4}(?:(?:ERROR|Error) in )?${file}[ \t]*$`, 'gmu'),
];
/** What Node prints before it exits: `file:///srv/server.mjs:12`, the line itself, and a caret under the part it could not parse. */
const caret = new RegExp(String.raw`^(?:file://)?${file}:(\d{1,7})\n[^\n]{0,1000}\n([ \t]{0,1000})\^`, 'gmu');
/** The file's name is a heading shortly above the error, or in the excerpt below it; distances in characters. */
const charactersAbove = 300;
const charactersBelow = 2_000;

/** Returns the file, relative to the project, in which a compiler reports an error, with line and column if given; null if there is none. */
function compiledFile(text: string, code: OwnCode): string | null {
  for (const [, address = '', line, indent = ''] of text.matchAll(caret)) {
    const path = ownPath(address, code);
    if (path !== null) return `${path}:${line}:${indent.length + 1}`;
  }
  for (const naming of namings)
    for (const [, address = '', line, column] of text.matchAll(naming)) {
      const path = ownPath(address.replaceAll('\\', '/'), code);
      if (path !== null) return line && column ? `${path}:${line}:${column}` : path;
    }
  return null;
}

/** Returns the text around one of its lines, or the whole text if the line is not in it. */
function around(text: string, line: string): string {
  const at = text.indexOf(asPrinted(line));
  return at === -1 ? text : text.slice(Math.max(0, at - charactersAbove), at + line.length + charactersBelow);
}
