import path from 'node:path';
import { chooseRelevantRequests, parseComparedValues } from '../diagnose/relevant-requests.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { hasFailed } from '../model/evidence.js';
import { isLoopback, splitUrl } from '../urls.js';
import { type CodeLine, listAppFiles, searchCode } from './search-code.js';

/** A name from a failure, and the one or two lines of the project that contain it (`src/fields.js:3`). */
export interface NameMatch {
  readonly name: string;
  readonly at: readonly string[];
}

const MAX_NAMES = 16;
const MAX_RESULTS = 5;
/** A name in more files does not show which of them to change. */
const MAX_FILES = 2;

/** Finds the names from a failure (a field, a header, a path, the words of a dialog) in the app's code. Needs a repository; otherwise finds nothing. */
export async function findNamesInCode(
  lead: DiagnosedFailure,
  { testFile, tree }: { readonly testFile: string | null; readonly tree: string },
): Promise<NameMatch[]> {
  const names = [...new Set(listNames(lead))].slice(0, MAX_NAMES);
  const places = await Promise.all([
    findServiceWorker(lead, tree),
    ...names.map((name) => findName(name, { testFile, tree })),
  ]);
  return places
    .flat()
    .filter(({ at }, n, all) => all.findIndex((other) => other.at.join() === at.join()) === n)
    .slice(0, MAX_RESULTS);
}

/** Finds the first line of each file that contains a name and, if a config file assigns it to a variable, the lines that read the variable. */
async function findName(
  name: string,
  location: { readonly testFile: string | null; readonly tree: string },
): Promise<NameMatch[]> {
  const lines = (await findLines(name, location.tree)).filter(({ file }) => file !== location.testFile);
  const first = lines.filter(({ file }, n) => lines.findIndex((line) => line.file === file) === n);
  if (first.length === 0 || first.length > MAX_FILES) return [];
  const [variable] = first.flatMap(({ file, text }) => {
    const before = text.slice(0, text.indexOf(name));
    const assignment = /([A-Z][A-Z\d_]{3,60})['"]?\s*[:=]\s*['"]?[^'"\s,]*$/.exec(before);
    return configFile.test(file) ? (assignment?.[1] ?? []) : [];
  });
  const readers = variable === undefined ? [] : await findName(variable, location);
  return [{ name, at: first.map(({ file, line }) => `${file}:${line}`) }, ...readers];
}

/** Finds the script of a service worker that sent requests, and where the app registers it. */
async function findServiceWorker({ evidence }: DiagnosedFailure, tree: string): Promise<NameMatch[]> {
  if (!evidence.network.some(({ isOfServiceWorker }) => isOfServiceWorker)) return [];
  const [registration] = await searchCode(tree, String.raw`serviceWorker.*register\(`);
  const script = /register\(\s*['"`]([^'"`]+)/.exec(registration?.text ?? '')?.[1]?.replace(/[?#].*$/, '');
  if (!registration || script === undefined) return [];
  const name = path.posix.basename(script);
  const files = (await listAppFiles(tree)).filter(
    (file) => path.posix.basename(file).replace(/\.ts$/, '.js') === name,
  );
  return [
    { name: 'service worker', at: [...files.slice(0, 1), `${registration.file}:${registration.line}`] },
  ];
}

const configFile = /\.ya?ml$|(?:^|\/)\.env|\.config\.[cm]?[jt]s$/;

function findLines(name: string, tree: string): Promise<CodeLine[]> {
  const words = /^\w.*\w$/.test(name) ? ['-w'] : [];
  const isHeader = /^[a-z\d]+(?:-[a-z\d]+)+$/i.test(name);
  return searchCode(tree, name, { flags: ['-F', ...words, ...(isHeader ? ['-i'] : [])], path: ':/' });
}

/** Lists the names in a failure, those in the deciding evidence first. */
function listNames({ diagnosis, evidence }: Pick<DiagnosedFailure, 'diagnosis' | 'evidence'>): string[] {
  const { facts, why, category } = diagnosis;
  const decidingTexts = category === 'ui-error' ? [] : why.slice(0, 2).map((reason) => reason.evidence);
  const { table, column, constraint, policy, endpoint, locator } = facts;
  const dialogs = evidence.console.filter(({ type }) => type === 'dialog').slice(-2);
  return [
    ...decidingTexts.flatMap((text) => [...listQuotedTexts(text), ...listAddresses(text)]),
    ...[column, constraint, policy, table].filter((name) => name !== null),
    ...listAddresses(endpoint ?? ''),
    ...dialogs.flatMap(({ text }) => listSentences(text.slice(text.indexOf('"'), text.lastIndexOf('"')))),
    ...listLocatorNames(locator ?? findLastAction(evidence)),
    ...listAmbiguousElements(evidence),
    ...decidingTexts.flatMap((text) => [
      ...listHosts(text),
      ...(/:(\d{4,5}) refuses/.exec(text)?.slice(1) ?? []),
      ...(/^\[(\w[\w-]{2,30})\]/.exec(text)?.slice(1) ?? []),
    ]),
    ...listLastRequests(evidence),
    ...chooseRelevantRequests(evidence, why).flatMap(({ url }) => [
      ...new URLSearchParams(url.split('?')[1] ?? '').keys(),
    ]),
    ...listCookieNames(evidence),
    ...listCustomElements(evidence),
    ...Object.values(parseComparedValues(evidence.errors)).flat().flatMap(findLongestPhrase),
  ].filter((name) => name.length >= 3);
}

/** Lists quoted texts, headers, fields, and the names in a selector. */
function listQuotedTexts(text: string): string[] {
  const quoted = [...text.matchAll(/(["'`])([^"'`\n]{3,80})\1/g)].map(([, , name = '']) => name);
  const header = /\bheader (?:field )?['"]?([\w-]{3,60})['"]? is not allowed/i.exec(text)?.[1];
  return [...quoted.map((name) => name.replace(/^[#.](?=[\w-]+$)/, '')), ...(header ? [header] : [])];
}

/** Returns the texts in a locator and the classes and ids in its selectors, starting with its last part. */
function listLocatorNames(locator: string): string[] {
  const texts = listQuotedTexts(locator.replaceAll(/getByRole\(['"]\w+['"]/g, ''));
  const selectors = [...locator.matchAll(/\blocator\((["'`])(.{1,300}?)\1\)/g)].map(([, , css = '']) => css);
  const names = selectors.flatMap((css) => [...css.matchAll(/[#.]([a-z_][\w-]{2,})/gi)]);
  return [...names.map(([, name = '']) => name).toReversed(), ...texts];
}

/** Returns the last action before the failing step, which a failed check without a locator may be about. */
function findLastAction({ steps = [] }: DiagnosedFailure['evidence']): string {
  const failing = steps.findIndex(({ isFailing }) => isFailing);
  const earlierSteps = failing < 0 ? [] : steps.slice(0, failing);
  return (
    earlierSteps.findLast(({ title }) => /^(?!Expect\b|expect\.).*\b(?:locator|getBy\w+)\(/.test(title))
      ?.title ?? ''
  );
}

/** Returns the file name of each URL, or else its path up to the first id. */
function listAddresses(text: string): string[] {
  return [...text.matchAll(/\b[A-Z]{3,7} (\S{2,300}) →/g)].flatMap(([, url = '']) => shortenAddress(url));
}

function shortenAddress(url: string): string[] {
  const address = (splitUrl(url)?.path ?? url).replace(/[?#].*$/, '');
  const file = path.posix.basename(address);
  if (/^[\w.-]+\.\w{2,5}$/.test(file)) return [file];
  const [fixed = ''] = address.split(/\/(?=\d+(?:\/|$)|[\da-f]{8}-)/);
  return fixed.length > 3 ? [fixed] : [];
}

/** Lists whole sentences and their beginnings, because a value in the middle of a sentence is not in the app's source. */
function listSentences(text: string): string[] {
  const sentences = text.match(/[\p{L}][^.?!"\n]{8,120}/gu) ?? [];
  return sentences.flatMap((sentence) => [sentence.trim(), sentence.split(' ').slice(0, 3).join(' ')]);
}

/** Lists the texts, classes and attributes of the elements that an ambiguous locator matched. */
function listAmbiguousElements({ errors }: DiagnosedFailure['evidence']): string[] {
  const listed = errors.flatMap(({ message }) => [
    ...message.matchAll(/^\s*\d+\) <\w[\w-]*((?:\s[^<>\n]{0,400})?)>([^<\n]{0,200})/gm),
  ]);
  return listed.flatMap(([, attributes = '', text = '']) => [
    ...[...attributes.matchAll(/\s(?:id|data-[\w-]+|aria-label|name|href)="([^"]{3,80})"/g)].map(
      ([, value = '']) => value,
    ),
    ...(/\sclass="([^"]{3,120})"/.exec(attributes)?.[1] ?? '').split(/\s+/),
    text.trim(),
  ]);
}

/** Lists the hosts of URLs, except loopback addresses. */
function listHosts(text: string): string[] {
  return [...text.matchAll(/\b\w+:\/\/([\w.-]{3,200})(:\d+)?/g)].flatMap(([, host = '']) =>
    isLoopback(host) ? [] : [host],
  );
}

/** Returns the names of the page's custom elements. */
function listCustomElements({ elements }: DiagnosedFailure['evidence']): string[] {
  return [...new Set((elements ?? []).flatMap(({ tag }) => (tag.includes('-') ? [tag] : [])))].slice(0, 4);
}

/** Returns a text's longest phrase without numbers and punctuation, if any, because the app may compose its texts from constant parts. */
function findLongestPhrase(text: string): string[] {
  const parts = text.split(/[^\p{L} ]+/u).map((part) => part.trim());
  return parts
    .filter(({ length }) => length >= 5)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, 1);
}

/**
 * Lists the paths of the page's last requests before the failure, the last two that were open or failed and the last one, and the other
 * servers that did not respond.
 */
function listLastRequests({ network, pageUrl }: DiagnosedFailure['evidence']): string[] {
  const calls = network.filter(
    ({ resourceType, common }) => /^(?:fetch|xhr|api|eventsource|websocket)$/.test(resourceType) && !common,
  );
  const open = calls.filter((entry) => entry.isOpen || hasFailed(entry));
  const unanswered = open.filter(({ status }) => status === null).slice(-2);
  const origins = unanswered.flatMap(({ url }) => splitUrl(url)?.origin ?? []);
  return [
    ...origins.filter((origin) => origin !== splitUrl(pageUrl ?? '')?.origin),
    ...[...open.slice(-2), ...calls.slice(-1)].flatMap(({ url }) => shortenAddress(url)),
  ];
}

/** Returns the names of the cookies that responses set. */
function listCookieNames({ network }: DiagnosedFailure['evidence']): string[] {
  const headers = network.flatMap(({ responseHeaders }) => responseHeaders['set-cookie'] ?? []);
  return headers.flatMap((header) => [...header.matchAll(/^([^=;\s]+)=/gm)].map(([, name = '']) => name));
}
