import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { NetworkEntry } from '../model/evidence.js';
import { createImportResolver } from '../code/imports.js';
import { splitUrl } from '../urls.js';
import { type CodeLine, listAppFiles, searchCode } from './search-code.js';

/** The code that answers a request. */
export interface Handler {
  /** `PUT /api/reminders` */
  readonly request: string;
  /** `server/reminders.ts:12`, relative to the project. */
  readonly at: string;
  /** Its first lines. */
  readonly code: string;
  /** True if no route matches exactly, and this is the most similar one, or the only server. */
  readonly isNear: boolean;
  /** The names that it uses from other project files: `store (src/offers.mjs:5)`. */
  readonly calls: readonly string[];
}

const MAX_LINES = 14;
const MAX_CALLS = 4;
const MAX_LINE_LENGTH = 240;

/** The registration of a route in the frameworks of several languages: a verb, a decorator or a mount, and the path. */
const routeRegistration =
  /(?:\.|@|\b)(get|post|put|patch|delete|all|on|route|use|mount|register|path)\(\s*(?:['"](?:GET|POST|PUT|PATCH|DELETE)['"],\s*)?['"`](\/[^'"`\n]{0,200}|)['"`]/gi;
const gitRouteRegistration = String.raw`(get|post|put|patch|delete|all|on|route|use|mount|register|path)\([[:space:]]*(['"][A-Z]+['"],[[:space:]]*)?['"\x60](/|['"\x60])`;
/** Code that sends a request. */
const requestCall =
  /\bawait [^;]{0,60}\b(?:get|post|put|patch|delete)\(|\b(?:axios|fetch|\$http|https?|client)\.(?:get|post|put|patch|delete)\(/;
const mountVerb = /^(?:route|use|mount|register)$/i;
const wildcardSegment = /^(?::[\w-]+\??|\{[^}]+\}|<[^>]+>|\[[^\].]+\]|\*)$/;

interface Route extends CodeLine {
  readonly verb: string;
  readonly pattern: string;
}

/** Finds the project's code that answers a request, even in mounted routers; null if there is none. */
export async function findHandler(
  { method, url, status }: Pick<NetworkEntry, 'method' | 'url' | 'status'>,
  tree: string,
): Promise<Handler | null> {
  const address = (splitUrl(url)?.path ?? url).replace(/[?#].*$/, '');
  const exact =
    (await findRegisteredRoute(method, address, tree)) ??
    (await findRouteByFileName(method, address, tree)) ??
    (status === 200 ? await findStaticFile(address, tree) : null) ??
    (await findLiteralPath(address, tree));
  const line = exact ?? (await findSimilarRoute(address, tree));
  if (line === null) return null;
  const text = await readFile(path.join(tree, line.file), 'utf8').catch(() => '');
  const block = readBlock(text, line.line);
  return {
    request: `${method} ${address}`,
    at: `${line.file}:${line.line}`,
    isNear: exact === null,
    code: block.map((line) => line.slice(0, MAX_LINE_LENGTH)).join('\n'),
    calls: await listCalls(block.join('\n'), text, { file: line.file, tree }),
  };
}

async function findRegisteredRoute(method: string, address: string, tree: string): Promise<CodeLine | null> {
  const lines = await searchCode(tree, gitRouteRegistration, { flags: ['-i', '-E'] });
  const routes = lines
    .filter(({ file, text }) => !notServerCode.test(file.replace(/x$/, '')) && !requestCall.test(text))
    .flatMap((line) =>
      [...line.text.matchAll(routeRegistration)].map(([, verb = '', pattern = '']): Route => ({
        ...line,
        verb: verb.toLowerCase(),
        pattern,
      })),
    );
  const prefixes = await listPrefixes(routes, tree);
  const ranked = routes
    .filter(({ verb }) => !mountVerb.test(verb) || verb === 'route')
    .filter(({ verb }) => verb === method.toLowerCase() || /^(?:all|on|route|path)$/.test(verb))
    .flatMap((route) => {
      const patterns = [...(prefixes.get(route.file) ?? [''])].map((prefix) => `${prefix}${route.pattern}`);
      const matches = Math.max(...patterns.map((pattern) => countLiteralMatches(pattern, address)));
      // The code may build the prefix dynamically: a long match at the end of the path is enough.
      const end = splitSegments(address).slice(-splitSegments(route.pattern).length).join('/');
      const score = matches >= 0 ? 100 + matches : countLiteralMatches(route.pattern, end);
      return score > 0 ? [{ route, score: score + (route.verb === method.toLowerCase() ? 0.5 : 0) }] : [];
    })
    .toSorted((a, b) => b.score - a.score);
  return ranked[0]?.route ?? null;
}

function splitSegments(pattern: string): string[] {
  return pattern.split('/').filter((segment) => segment !== '');
}

/** Counts the literal segments of a pattern that matches a path; -1 if it does not match. */
function countLiteralMatches(pattern: string, address: string): number {
  const patternSegments = splitSegments(pattern);
  const addressSegments = splitSegments(address);
  if (patternSegments.length !== addressSegments.length) return -1;
  const wildcards = patternSegments.map((segment) => wildcardSegment.test(segment));
  return patternSegments.every((segment, at) => wildcards[at] || segment === addressSegments[at])
    ? wildcards.filter((wildcard) => !wildcard).length
    : -1;
}

/** Returns, for each file with routes, the paths at which other files mount it. */
async function listPrefixes(
  routes: readonly Route[],
  tree: string,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const prefixes = new Map<string, Set<string>>();
  const mounts = routes.filter(({ verb }) => mountVerb.test(verb));
  if (mounts.length === 0) return prefixes;
  const resolve = createImportResolver(new Set(await listAppFiles(tree)));
  const targets: readonly (readonly string[])[] = await Promise.all(
    mounts.map(async (mount) => {
      const text = await readFile(path.join(tree, mount.file), 'utf8').catch(() => '');
      const names: readonly string[] =
        mount.text.slice(mount.text.indexOf(mount.pattern)).match(/[A-Za-z_$][\w$]*/g) ?? [];
      return listImports(text, mount.file, resolve).flatMap(({ name, file }) =>
        names.includes(name) ? [file] : [],
      );
    }),
  );
  // Routers can be nested.
  for (let depth = 0; depth < 3; depth += 1)
    for (const [at, { file, pattern }] of mounts.entries())
      for (const target of targets[at] ?? []) {
        const targetPrefixes = prefixes.get(target) ?? new Set<string>();
        for (const prefix of [...(prefixes.get(file) ?? []), ''])
          targetPrefixes.add(`${prefix}${pattern.replace(/\/$/, '')}`);
        prefixes.set(target, targetPrefixes);
      }
  return prefixes;
}

/** Folders in which a file's path is the route: SvelteKit, Next, Nuxt and Remix. */
const routeFolders = /(?:^|\/)(?:(?:src\/)?(?:routes|app|pages)|server)\//;
const routeFileEnding =
  /(?:\/\+(?:server|page\.server|page|layout\.server)|\/(?:route|page)|\/index|(?:\.(?:get|post|put|patch|delete))?)\.[cm]?[jt]sx?$|\/\+page\.svelte$/;

async function findRouteByFileName(method: string, address: string, tree: string): Promise<CodeLine | null> {
  const files = (await listAppFiles(tree)).filter((file) => routeFolders.test(file));
  const ranked = files
    .flatMap((file) => {
      const match = routeFolders.exec(file);
      if (!match || !routeFileEnding.test(file)) return [];
      const route = file
        .slice(match.index + match[0].length)
        .replace(routeFileEnding, '')
        .replaceAll(/(?:^|\/)\([^)]*\)/g, '');
      const matches = countLiteralMatches(route, address);
      return matches > 0
        ? [{ file, score: matches + (/server|route|api/.test(path.basename(file)) ? 0.5 : 0) }]
        : [];
    })
    .toSorted((a, b) => b.score - a.score);
  const [first] = ranked;
  if (!first) return null;
  const text = await readFile(path.join(tree, first.file), 'utf8').catch(() => '');
  const exportedHandler = new RegExp(
    String.raw`export (?:const|async function|function) (?:${method}|load|default|loader|action)\b`,
  );
  const line = text.split('\n').findIndex((one) => exportedHandler.test(one));
  return { file: first.file, line: Math.max(1, line + 1), text: '' };
}

/** Finds the file that a server of static files sends for a path. */
async function findStaticFile(address: string, tree: string): Promise<CodeLine | null> {
  const file = findServedFile(address, await listAppFiles(tree));
  return file === null ? null : { file, line: 1, text: '' };
}

/** Returns the file at the end of a URL's path, the one in the fewest folders; null if there is none or there are several. */
function findServedFile(address: string, files: readonly string[]): string | null {
  const name = address.endsWith('/') ? `${address}index.html` : address;
  if (!/[^/]\.\w+$/.test(name)) return null;
  const countFolders = (file: string) => file.split('/').length;
  const [first, second] = files
    .filter((file) => `/${file}`.endsWith(name))
    .toSorted((a, b) => countFolders(a) - countFolders(b));
  const isAmbiguous =
    first !== undefined && second !== undefined && countFolders(first) === countFolders(second);
  return first === undefined || isAmbiguous ? null : first;
}

/** Finds a path as a literal in the code. */
async function findLiteralPath(address: string, tree: string): Promise<CodeLine | null> {
  const [fixedPart = ''] = address.split(/\/(?=\d+(?:\/|$)|[\da-f]{8}-)/);
  return findLine(fixedPart, tree);
}

/** Finds the line that contains the path without its first or last segment, or else the project's only server. */
async function findSimilarRoute(address: string, tree: string): Promise<CodeLine | null> {
  const segments = splitSegments(address);
  for (const part of [segments.slice(1), segments.slice(0, -1)]) {
    const found = await findLine(`/${part.join('/')}`, tree);
    if (found) return found;
  }
  const servers = await searchCode(tree, String.raw`\b(createServer|Bun\.serve|Deno\.serve)\(`);
  const [server, ...others] = servers.filter(({ file }) => !notServerCode.test(file));
  return others.length === 0 ? (server ?? null) : null;
}

async function findLine(part: string, tree: string): Promise<CodeLine | null> {
  if (part.length <= 4) return null;
  const found = await searchCode(tree, part, { flags: ['-F'] });
  const lines = found.filter(({ text }) => !commentLine.test(text));
  const files = new Set(lines.map(({ file }) => file));
  return files.size > 3 ? null : (lines.find(({ file }) => !notServerCode.test(file)) ?? null);
}

const commentLine = /^\s*(?:\/\/|\/?\*|#)/;

/** Files that cannot answer a request: the page's scripts, which send it, and tools. */
const notServerCode =
  /(?:^|\/)(?:public|static|assets|client|web|components?|tools|scripts)\/|\.(?:tsx|jsx|vue|svelte|html|ya?ml|json)$|(?:^|\/)playwright[\w.-]*\.config\.\w+$/;

/** Returns the lines of a block: its first line, the more indented lines below, and the closing line. */
function readBlock(text: string, line: number): string[] {
  const lines = text.split('\n').slice(line - 1, line - 1 + MAX_LINES);
  const measureIndent = (one: string) => one.search(/\S/);
  const firstIndent = measureIndent(lines[0] ?? '');
  const end = lines.findIndex((one, at) => at > 0 && one.trim() !== '' && measureIndent(one) <= firstIndent);
  const isClosingLine = /^[\s)}\];,]*$/.test(lines[end] ?? '');
  return end < 0 ? lines : lines.slice(0, isClosingLine ? end + 1 : end);
}

/** Lists the names that a file imports from other project files. */
function listImports(
  text: string,
  importer: string,
  resolve: ReturnType<typeof createImportResolver>,
): { readonly name: string; readonly file: string }[] {
  const imports = [
    ...text.matchAll(/\bimport\s+(?:type\s+)?([^'"`;]{1,400}?)\s+from\s+['"]([^'"\n]{1,200})['"]/g),
    ...text.matchAll(
      /\b(?:const|let|var)\s+([^=;]{1,300}?)\s*=\s*(?:await\s+import|require)\(['"]([^'"\n]{1,200})['"]\)/g,
    ),
  ];
  return imports.flatMap(([, clause = '', source = '']) => {
    const file = resolve(importer, source);
    // In `a`, `{ a, b as c }` and `{ a: b }`, the last word of each part is the name in this file.
    const names = clause.split(',').flatMap((part) => /[\w$]+(?=[\s}]*$)/.exec(part)?.[0] ?? []);
    return file === null ? [] : names.map((name) => ({ name, file }));
  });
}

/** Lists the project's files that a static page loads. */
function listLoadedFiles(html: string, page: string, files: readonly string[]): string[] {
  const urls = [...html.matchAll(/(?:\b(?:src|href)=|\bfrom\s|\bimport\(?)\s*["']?([^"'\s>?#]+)/g)];
  const loaded = urls.flatMap(([, url = '']) => {
    const file = findServedFile(path.posix.join('/', url), files);
    return file === null || file === page ? [] : [`${file}:1`];
  });
  return [...new Set(loaded)].slice(0, MAX_CALLS);
}

/** Lists the names from other project files that a block uses, with their definitions. */
async function listCalls(
  code: string,
  text: string,
  { file, tree }: { readonly file: string; readonly tree: string },
): Promise<string[]> {
  const files = await listAppFiles(tree);
  if (file.endsWith('.html')) return listLoadedFiles(text, file, files);
  const usedNames = new Set(code.match(/[A-Za-z_$][\w$]*/g));
  const resolve = createImportResolver(new Set(files));
  const imports = listImports(text, file, resolve).filter(({ name }) => usedNames.has(name));
  const calls = imports.slice(0, MAX_CALLS).map(async ({ name, file: target }) => {
    const lines = (await readFile(path.join(tree, target), 'utf8').catch(() => '')).split('\n');
    const definition = new RegExp(
      String.raw`\b(?:function\*?|const|let|var|class|def|func) +${name.replaceAll('$', String.raw`\$`)}\b`,
    );
    const at = lines.findIndex((line) => definition.test(line));
    return `${name} (${target}${at < 0 ? '' : `:${at + 1}`})`;
  });
  return Promise.all(calls);
}
