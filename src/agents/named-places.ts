import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRedirected } from '../diagnose/auth-redirects.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { hasFailed } from '../model/evidence.js';
import { splitUrl } from '../urls.js';
import { git } from '../workspace/git.js';
import { isSpecName } from '../guard/test-places.js';
import { relativePath } from '../paths.js';

/** A name that a failure shows, and where the project has it: one or two places, relative to the project (`src/fields.js:3`). */
export interface NamedPlace {
  readonly name: string;
  readonly at: readonly string[];
}

/** A name that more files have tells nobody which to change. */
const mostFiles = 2;
const most = { names: 8, places: 4 };

/**
 * Returns where the app has the names that a failure shows, such as a field, a header, an address or the words of a dialog, so that nobody has to
 * look for them, unless the place of the fault in the app is known. `root` is the project's, `tree` where its files are read. Names that are in more than two files are left out; without a repository
 * there are none.
 */
export async function namedPlaces(
  lead: DiagnosedFailure,
  { root, tree }: { readonly root: string; readonly tree: string },
): Promise<NamedPlace[]> {
  const test = lead.failure.scope === 'test' ? relativePath(root, lead.failure.test.location.file) : null;
  const isOfApp = (file: string) => file !== test && !isNoCode(file);
  const source = lead.diagnosis.facts.source?.replace(/(?::\d+)+$/, '');
  if (source !== undefined && isOfApp(source)) return [];
  const names = [...new Set(namesOf(lead))].slice(0, most.names);
  const places = await Promise.all(
    names.map(async (name) => {
      const files = (await filesWith(name, tree)).filter(isOfApp);
      if (files.length > mostFiles) return [];
      const at = await Promise.all(files.map((file) => placeIn(file, name, tree)));
      return at.length === 0 ? [] : [{ name, at }];
    }),
  );
  return places
    .flat()
    .filter(({ at }, index, all) => all.findIndex((other) => other.at.join() === at.join()) === index)
    .slice(0, most.places);
}

/** Tests, what documents and installs the project, and what describes it to tools. */
function isNoCode(file: string): boolean {
  return (
    isSpecName.test(file) ||
    /(?:^|\/)(?:e2e|tests?|specs?|__\w+__)\/|\.(?:md|lock|map|snap|log|ya?ml)$|(?:^|\/)(?:package(?:-lock)?\.json|playwright[\w.-]*\.config\.\w+)$/.test(
      file,
    )
  );
}

async function filesWith(name: string, root: string): Promise<string[]> {
  const words = /^\w.*\w$/.test(name) ? ['-w'] : [];
  const isHeader = /^[a-z\d]+(?:-[a-z\d]+)+$/i.test(name);
  const how = ['-z', '-l', '-I', '-F', '--untracked', ...words, ...(isHeader ? ['-i'] : [])];
  const found = await git(root, ['grep', ...how, '-e', name, '--', ':/']);
  return (found ?? '').split('\0').filter((file) => file !== '');
}

async function placeIn(file: string, name: string, root: string): Promise<string> {
  const text = await readFile(path.join(root, file), 'utf8').catch(() => '');
  const before = text.toLowerCase().indexOf(name.toLowerCase());
  return before === -1 ? file : `${file}:${text.slice(0, before).split('\n').length}`;
}

/** Returns the names that a failure shows, those of what decided first. */
function namesOf({ diagnosis, evidence }: Pick<DiagnosedFailure, 'diagnosis' | 'evidence'>): string[] {
  const { facts, why, category } = diagnosis;
  const said = category === 'ui-error' ? [] : why.slice(0, 2).map((reason) => reason.evidence);
  const { table, column, constraint, policy, endpoint, locator } = facts;
  const dialogs = evidence.console.filter(({ type }) => type === 'dialog').slice(-2);
  return [
    ...said.flatMap((text) => [...quotedIn(text), ...addressesIn(text)]),
    ...[column, constraint, policy, table].filter((name) => name !== null),
    ...addressesIn(endpoint ?? ''),
    ...dialogs.flatMap(({ text }) => sentencesOf(text.slice(text.indexOf('"'), text.lastIndexOf('"')))),
    ...quotedIn((locator ?? '').replaceAll(/getByRole\(['"]\w+['"]/g, '')),
    ...(category === 'ui-error' ? [...lastCalls(evidence), ...cookiesSet(evidence)] : []),
  ].filter((name) => name.length >= 3);
}

/** Fields, headers and texts in quotation marks; the names in a selector. */
function quotedIn(text: string): string[] {
  const quoted = [...text.matchAll(/(["'`])([^"'`\n]{3,80})\1/g)].map(([, , name = '']) => name);
  const header = /\bheader (?:field )?['"]?([\w-]{3,60})['"]? is not allowed/i.exec(text)?.[1];
  return [...quoted.map((name) => name.replace(/^[#.](?=[\w-]+$)/, '')), ...(header ? [header] : [])];
}

/** A file's name, or else the path up to what differs from one request to the next. */
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

/** Values stand in the middle of what a page says: the sentences without one are in its source, and the beginnings of the others. */
function sentencesOf(text: string): string[] {
  const sentences = text.match(/[\p{L}][^.?!"\n]{8,120}/gu) ?? [];
  return sentences.flatMap((sentence) => [sentence.trim(), sentence.split(' ').slice(0, 3).join(' ')]);
}

/** The page's last calls before an assertion failed: those that are open or failed, and the last that was answered. */
function lastCalls({ network }: DiagnosedFailure['evidence']): string[] {
  const calls = network.filter(({ resourceType, common }) => /^(?:fetch|xhr)$/.test(resourceType) && !common);
  const open = calls.filter((entry) => entry.isOpen || hasFailed(entry));
  return [...open.slice(-2), ...calls.slice(-1)].flatMap(({ url }) => addressOf(url));
}

/** The names of the cookies with which the app redirected, as it does after a sign-in: a session may not be kept or sent. */
function cookiesSet({ network }: DiagnosedFailure['evidence']): string[] {
  const headers = network
    .filter(isRedirected)
    .flatMap(({ responseHeaders }) => responseHeaders['set-cookie'] ?? []);
  return headers.flatMap((header) => [...header.matchAll(/^([^=;\s]+)=/gm)].map(([, name = '']) => name));
}
