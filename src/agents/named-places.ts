import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRedirected } from '../diagnose/auth-redirects.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { hasFailed } from '../model/evidence.js';
import { splitUrl } from '../urls.js';
import { gitList } from '../workspace/git.js';
import { isSpecName } from '../guard/test-places.js';
import { relativePath } from '../paths.js';

/** A name that a failure shows, and the one or two lines of the project that contain it (`src/fields.js:3`). */
export interface NamedPlace {
  readonly name: string;
  readonly at: readonly string[];
}

const MAX_NAMES = 8;
const MAX_RESULTS = 4;
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
  const isOfApp = (file: string) => file !== test && !isNoCode(file);
  const source = lead.diagnosis.facts.source?.replace(/(?::\d+)+$/, '');
  if (source !== undefined && isOfApp(source)) return [];
  const names = [...new Set(namesOf(lead))].slice(0, MAX_NAMES);
  const results = await Promise.all(
    names.map(async (name) => {
      const files = (await filesWith(name, tree)).filter(isOfApp);
      if (files.length > MAX_FILES) return [];
      const at = await Promise.all(files.map((file) => lineWith(name, file, tree)));
      return at.length === 0 ? [] : [{ name, at }];
    }),
  );
  return results
    .flat()
    .filter(({ at }, index, all) => all.findIndex((other) => other.at.join() === at.join()) === index)
    .slice(0, MAX_RESULTS);
}

/** Whether a file is a test, documentation or configuration. */
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
  const options = ['-z', '-l', '-I', '-F', '--untracked', ...words, ...(isHeader ? ['-i'] : [])];
  return gitList(root, ['grep', ...options, '-e', name, '--', ':/']);
}

/** Returns `file:line` of the first line with a name. */
async function lineWith(name: string, file: string, root: string): Promise<string> {
  const text = await readFile(path.join(root, file), 'utf8').catch(() => '');
  const before = text.toLowerCase().indexOf(name.toLowerCase());
  return before === -1 ? file : `${file}:${text.slice(0, before).split('\n').length}`;
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
    ...(category === 'ui-error' ? [...lastCalls(evidence), ...cookiesSet(evidence)] : []),
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

/** Returns the addresses of the page's last calls before an assertion failed: those that are open or failed, and the last one. */
function lastCalls({ network }: DiagnosedFailure['evidence']): string[] {
  const calls = network.filter(({ resourceType, common }) => /^(?:fetch|xhr)$/.test(resourceType) && !common);
  const open = calls.filter((entry) => entry.isOpen || hasFailed(entry));
  return [...open.slice(-2), ...calls.slice(-1)].flatMap(({ url }) => addressOf(url));
}

/** Returns the names of the cookies that came with a redirect, as after a sign-in. */
function cookiesSet({ network }: DiagnosedFailure['evidence']): string[] {
  const headers = network
    .filter(isRedirected)
    .flatMap(({ responseHeaders }) => responseHeaders['set-cookie'] ?? []);
  return headers.flatMap((header) => [...header.matchAll(/^([^=;\s]+)=/gm)].map(([, name = '']) => name));
}
