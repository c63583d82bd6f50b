import path from 'node:path';
import { chooseRelevantRequests, parseAsserted } from '../diagnose/asserted.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { hasFailed } from '../model/evidence.js';
import { relativePath } from '../paths.js';
import { isLoopback, splitUrl } from '../urls.js';
import { type CodeLine, filesOfApp, isOfApp, searchCode } from './search-code.js';

/** A name that a failure shows, and the one or two lines of the project that contain it (`src/fields.js:3`). */
export interface NamedPlace {
  readonly name: string;
  readonly at: readonly string[];
}

const MAX_NAMES = 16;
const MAX_RESULTS = 5;
/** A name that more files contain does not tell which of them to change. */
const MAX_FILES = 2;

/**
 * Returns where the app contains the names that a failure shows, such as a field, a header, an address or the words of a dialog; empty if the
 * place of the error in the app is known, or without a repository. `root` is the project's folder, `tree` the folder where its files are read.
 */
export async function namedPlaces(
  lead: DiagnosedFailure,
  { root, tree }: { readonly root: string; readonly tree: string },
): Promise<NamedPlace[]> {
  const test = lead.failure.scope === 'test' ? relativePath(root, lead.failure.test.location.file) : null;
  const source = lead.diagnosis.facts.source?.replace(/(?::\d+)+$/, '');
  if (source !== undefined && source !== test && isOfApp(source)) return [];
  const names = [...new Set(namesOf(lead))].slice(0, MAX_NAMES);
  const results = await Promise.all([
    serviceWorkerOf(lead, tree),
    ...names.map((name) => placesOf(name, { test, tree })),
  ]);
  return results
    .flat()
    .filter(({ at }, index, all) => all.findIndex((other) => other.at.join() === at.join()) === index)
    .slice(0, MAX_RESULTS);
}

/** Returns where a name is; if a configuration gives it to a variable, where the variable is read, too. */
async function placesOf(
  name: string,
  { test, tree }: { readonly test: string | null; readonly tree: string },
): Promise<NamedPlace[]> {
  const lines = (await linesWith(name, tree)).filter(({ file }) => file !== test);
  const first = [...new Map(lines.toReversed().map((line) => [line.file, line])).values()].toReversed();
  if (first.length === 0 || first.length > MAX_FILES) return [];
  const variables = first.flatMap(({ text }) => {
    const before = text.slice(0, text.indexOf(name));
    return isConfig.test(first[0]?.file ?? '')
      ? (/([A-Z][A-Z\d_]{3,60})['"]?\s*[:=]\s*['"]?[^'"\s,]*$/.exec(before)?.[1] ?? [])
      : [];
  });
  const read = await Promise.all(
    variables.slice(0, 1).map((variable) => placesOf(variable, { test, tree: tree })),
  );
  return [{ name, at: first.map(({ file, line }) => `${file}:${line}`) }, ...read.flat()];
}

/** Returns the script of a service worker that sent requests, and where the app registers it. */
async function serviceWorkerOf({ evidence }: DiagnosedFailure, tree: string): Promise<NamedPlace[]> {
  if (!evidence.network.some(({ isOfServiceWorker }) => isOfServiceWorker)) return [];
  const [registered] = await searchCode(tree, ['-E', '-e', String.raw`serviceWorker.*register\(`]);
  const script = /register\(\s*['"`]([^'"`]+)/.exec(registered?.text ?? '')?.[1]?.replace(/[?#].*$/, '');
  if (!registered || script === undefined) return [];
  const name = path.posix.basename(script);
  const files = (await filesOfApp(tree)).filter(
    (file) => path.posix.basename(file).replace(/\.ts$/, '.js') === name,
  );
  return [{ name: 'service worker', at: [...files.slice(0, 1), `${registered.file}:${registered.line}`] }];
}

const isConfig = /\.ya?ml$|(?:^|\/)\.env|\.config\.[cm]?[jt]s$/;

function linesWith(name: string, tree: string): Promise<CodeLine[]> {
  const words = /^\w.*\w$/.test(name) ? ['-w'] : [];
  const isHeader = /^[a-z\d]+(?:-[a-z\d]+)+$/i.test(name);
  return searchCode(tree, ['-F', ...words, ...(isHeader ? ['-i'] : []), '-e', name], [':/']);
}

/** Returns the names that a failure shows, those in the deciding evidence first. */
function namesOf({ diagnosis, evidence }: Pick<DiagnosedFailure, 'diagnosis' | 'evidence'>): string[] {
  const { facts, why, category } = diagnosis;
  const decisive = category === 'ui-error' ? [] : why.slice(0, 2).map((reason) => reason.evidence);
  const { table, column, constraint, policy, endpoint, locator } = facts;
  const dialogs = evidence.console.filter(({ type }) => type === 'dialog').slice(-2);
  return [
    ...decisive.flatMap((text) => [...quotedIn(text), ...addressesIn(text)]),
    ...[column, constraint, policy, table].filter((name) => name !== null),
    ...addressesIn(endpoint ?? ''),
    ...dialogs.flatMap(({ text }) => sentencesOf(text.slice(text.indexOf('"'), text.lastIndexOf('"')))),
    ...quotedIn((locator ?? '').replaceAll(/getByRole\(['"]\w+['"]/g, '')),
    ...elementsIn(evidence),
    ...decisive.flatMap((text) => [
      ...hostsIn(text),
      ...(/:(\d{4,5}) refuses/.exec(text)?.slice(1) ?? []),
      ...(/^\[(\w[\w-]{2,30})\]/.exec(text)?.slice(1) ?? []),
    ]),
    ...lastCalls(evidence),
    ...chooseRelevantRequests(evidence, why).flatMap(({ url }) => [
      ...new URLSearchParams(url.split('?')[1] ?? '').keys(),
    ]),
    ...cookiesSet(evidence),
    ...customElements(evidence),
    ...Object.values(parseAsserted(evidence.errors)).flat().flatMap(phrasesOf),
  ].filter((name) => name.length >= 3);
}

/** Returns fields, headers and texts in quotation marks, and the names in a selector. */
function quotedIn(text: string): string[] {
  const quoted = [...text.matchAll(/(["'`])([^"'`\n]{3,80})\1/g)].map(([, , name = '']) => name);
  const header = /\bheader (?:field )?['"]?([\w-]{3,60})['"]? is not allowed/i.exec(text)?.[1];
  return [...quoted.map((name) => name.replace(/^[#.](?=[\w-]+$)/, '')), ...(header ? [header] : [])];
}

/** Returns a file's name, or else the path up to its first id. */
function addressesIn(text: string): string[] {
  return [...text.matchAll(/\b[A-Z]{3,7} (\S{2,300}) →/g)].flatMap(([, url = '']) => addressOf(url));
}

function addressOf(url: string): string[] {
  const address = (splitUrl(url)?.path ?? url).replace(/[?#].*$/, '');
  const file = path.posix.basename(address);
  if (/^[\w.-]+\.\w{2,5}$/.test(file)) return [file];
  const [fixed = ''] = address.split(/\/(?=\d+(?:\/|$)|[\da-f]{8}-)/);
  return fixed.length > 3 ? [fixed] : [];
}

/** Returns whole sentences, and their beginnings: a value in the middle of a sentence is not in the app's source. */
function sentencesOf(text: string): string[] {
  const sentences = text.match(/[\p{L}][^.?!"\n]{8,120}/gu) ?? [];
  return sentences.flatMap((sentence) => [sentence.trim(), sentence.split(' ').slice(0, 3).join(' ')]);
}

/** Returns the texts, classes and attributes of the elements among which a locator could not choose. */
function elementsIn({ errors }: DiagnosedFailure['evidence']): string[] {
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

/** Returns the names of hosts, without their domain if that is a public one. */
function hostsIn(text: string): string[] {
  return [...text.matchAll(/\b\w+:\/\/([\w.-]{3,200})(:\d+)?/g)].flatMap(([, host = '']) =>
    isLoopback(host) ? [] : [host],
  );
}

/** Returns the names of the page's custom elements. */
function customElements({ elements }: DiagnosedFailure['evidence']): string[] {
  return [...new Set((elements ?? []).flatMap(({ tag }) => (tag.includes('-') ? [tag] : [])))].slice(0, 4);
}

/** Returns the fixed parts of a text that an app may have put together: the longest words between its numbers and signs. */
function phrasesOf(text: string): string[] {
  const parts = text.split(/[^\p{L} ]+/u).map((part) => part.trim());
  return parts
    .filter(({ length }) => length >= 5)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, 1);
}

/** Returns the addresses of the page's last calls before an assertion failed: those that are open or failed, and the last one. */
function lastCalls({ network }: DiagnosedFailure['evidence']): string[] {
  const calls = network.filter(
    ({ resourceType, common }) => /^(?:fetch|xhr|api|eventsource|websocket)$/.test(resourceType) && !common,
  );
  const open = calls.filter((entry) => entry.isOpen || hasFailed(entry));
  return [...open.slice(-2), ...calls.slice(-1)].flatMap(({ url }) => addressOf(url));
}

/** Returns the names of the cookies that answers set. */
function cookiesSet({ network }: DiagnosedFailure['evidence']): string[] {
  const headers = network.flatMap(({ responseHeaders }) => responseHeaders['set-cookie'] ?? []);
  return headers.flatMap((header) => [...header.matchAll(/^([^=;\s]+)=/gm)].map(([, name = '']) => name));
}
