import { AnyMap, decodedMappings, type TraceMap } from '@jridgewell/trace-mapping';
import { jsonOf } from '../../json-of.js';
import { field, listOf, stringOr } from '../unknown-fields.js';
import { type AppFolders, findAppFolders } from './served-files.js';
import { CompiledFiles } from './compiled-files.js';
import type { ProjectFiles } from './project-files.js';

/** A usable source map, or why there is none. */
export type ParsedMap =
  | { readonly kind: 'mapped'; readonly map: TraceMap }
  | { readonly kind: 'unknown'; readonly because: string };

/**
 * Parses a source map, including index maps. Its sources are relative to `url`, where it was found. The input is
 * untrusted; never throws.
 */
function parseMap(text: string, url: string | null): ParsedMap {
  // Some servers put a line before the JSON so that it cannot be run as a script: https://tc39.es/ecma426/
  const json = jsonOf(text.replace(/^\)\]\}'[^\n]*\n/, ''));
  if (!isMap(json)) return { kind: 'unknown', because: 'it is not a version 3 source map' };
  try {
    const map = new AnyMap(json as ConstructorParameters<typeof AnyMap>[0], url);
    // Decodes the mappings now, since corrupt ones would throw at the first lookup.
    decodedMappings(map);
    return { kind: 'mapped', map };
  } catch {
    return { kind: 'unknown', because: 'it is corrupt' };
  }
}

/** Base64 VLQ. The library ignores invalid characters and would return wrong lines. */
const mappings = /^[A-Za-z\d+/;,]*$/;

function isMap(json: unknown): boolean {
  if (Number(field(json, 'version')) !== 3) return false;
  const sections = field(json, 'sections');
  if (sections !== undefined)
    return listOf(sections).length > 0 && listOf(sections).every((one) => isMap(field(one, 'map')));
  const sources = field(json, 'sources');
  return (
    mappings.test(stringOr(field(json, 'mappings'), '!')) &&
    Array.isArray(sources) &&
    sources.every((source) => source === null || typeof source === 'string')
  );
}

const mostKept = 3;

/**
 * Caches the project's folders and the three maps used last. The failures of one run come from the same few bundles, and
 * parsing a map of 15 MB takes the better part of a second.
 */
export class ParsedMaps {
  readonly compiled = new CompiledFiles();
  readonly #folders = new Map<string, AppFolders>();
  #kept: { readonly text: string; readonly url: string | null; readonly parsed: ParsedMap }[] = [];

  /** Like `findAppFolders`, but searches each project only once. */
  foldersOf(files: ProjectFiles): AppFolders {
    const found = this.#folders.get(files.root) ?? findAppFolders(files);
    this.#folders.set(files.root, found);
    return found;
  }

  /** Like `parseMap`, but cached by text and URL. */
  parse(text: string, url: string | null): ParsedMap {
    const known = this.#kept.find((one) => one.url === url && one.text === text);
    const entry = known ?? { text, url, parsed: parseMap(text, url) };
    this.#kept = [entry, ...this.#kept.filter((one) => one !== entry)].slice(0, mostKept);
    return entry.parsed;
  }
}

const comment = /^(?:\/\/|\/\*)[#@]\s?sourceMappingURL=([^\s'"*\\]+)/;
/** Only comments may follow the reference: an earlier one belongs to a module inside the bundle, or to a string. */
const tail = /^(?:\s|\*\/|\/\/[#@][^\n]{0,500}(?=\n|$))*$/;
const dataUrl = /^data:[^,]{0,200},/;

/** Returns the `sourceMappingURL` at the end of a script, or null. */
export function mapReferenceIn(script: string): string | null {
  const last = script.lastIndexOf('sourceMappingURL=');
  if (last < 0) return null;
  const start = Math.max(script.lastIndexOf('//', last), script.lastIndexOf('/*', last));
  const match = comment.exec(script.slice(Math.max(0, start)));
  return match && tail.test(script.slice(start + match[0].length)) ? (match[1] ?? null) : null;
}

/**
 * Returns the inline map of one module of a bundle with `eval`ed modules (webpack's `eval-source-map`), where `address`
 * is the module's `sourceURL`; null if the script contains no such module.
 */
export function evalReferenceIn(script: string, address: string): string | null {
  const name = `sourceURL=${address}`;
  for (let at = script.indexOf(name); at >= 0; at = script.indexOf(name, at + 1)) {
    if (/^[\w./?-]/.test(script.slice(at + name.length, at + name.length + 1))) continue;
    const map = script.lastIndexOf('sourceMappingURL=', at);
    const previous = script.lastIndexOf('sourceURL=', at - 1);
    if (map < 0 || map < previous) return null;
    return /^sourceMappingURL=([^\s\\'"]+)/.exec(script.slice(map, at))?.[1] ?? null;
  }
  return null;
}

/** Returns the text in a `data:` URL, base64 or percent-encoded; null if it is not such a URL. */
export function textOfDataUrl(url: string): string | null {
  const head = dataUrl.exec(url)?.[0];
  if (head === undefined) return null;
  const body = url.slice(head.length);
  if (/;base64,$/i.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  try {
    return decodeURIComponent(body);
  } catch {
    return null;
  }
}
