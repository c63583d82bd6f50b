import { AnyMap, decodedMappings, type TraceMap } from '@jridgewell/trace-mapping';
import { z } from 'zod';
import { jsonOf } from '../../json-of.js';

/** A usable source map, or why there is none. */
export type ParsedMap =
  | { readonly kind: 'mapped'; readonly map: TraceMap }
  | { readonly kind: 'unknown'; readonly because: string };

/** Base64 VLQ is checked, since the library ignores invalid characters and would return wrong lines. */
const mapShape = z.looseObject({
  version: z.coerce.number().pipe(z.literal(3)),
  sources: z.array(z.string().nullable()),
  mappings: z.string().regex(/^[A-Za-z\d+/;,]*$/),
});
const anyMapShape = z.union([
  mapShape,
  z.looseObject({
    version: z.coerce.number().pipe(z.literal(3)),
    sections: z.array(z.looseObject({ map: mapShape })).nonempty(),
  }),
]);

/** Parses a source map, including index maps. Its sources are relative to `url`, where it was found. Never throws. */
function parseMap(text: string, url: string | null): ParsedMap {
  // Some servers put a line before the JSON so that it cannot be run as a script: https://tc39.es/ecma426/
  const { data } = anyMapShape.safeParse(jsonOf(text.replace(/^\)\]\}'[^\n]*\n/, '')));
  if (!data) return { kind: 'unknown', because: 'it is not a version 3 source map' };
  try {
    const map = new AnyMap(data as unknown as ConstructorParameters<typeof AnyMap>[0], url);
    // Decodes the mappings now, since corrupt ones would throw at the first lookup.
    decodedMappings(map);
    return { kind: 'mapped', map };
  } catch {
    return { kind: 'unknown', because: 'it is corrupt' };
  }
}

const mostKept = 3;

/** Keeps the maps used last: the failures of one run come from the same few bundles, and a map of 15 MB is parsed in the better part of a second. */
export class ParsedMaps {
  #kept: { readonly text: string; readonly url: string | null; readonly parsed: ParsedMap }[] = [];

  parse(text: string, url: string | null): ParsedMap {
    const known = this.#kept.find((kept) => kept.url === url && kept.text === text);
    const entry = known ?? { text, url, parsed: parseMap(text, url) };
    this.#kept = [entry, ...this.#kept.filter((kept) => kept !== entry)].slice(0, mostKept);
    return entry.parsed;
  }
}

const comment = /^(?:\/\/|\/\*)[#@]\s?sourceMappingURL=([^\s'"*\\]+)/;
/** Only comments may follow the reference: an earlier one belongs to a module inside the bundle, or to a string. */
const tail = /^(?:\s|\*\/|\/\/[#@][^\n]{0,500}(?=\n|$))*$/;

/** Returns the URL of a script's map: inline, as the script names it at its end, or beside it; null if it names it in no valid way. */
export function mapUrlOf(script: string, url: string): string | null {
  const named = mapReferenceIn(script) ?? `${url}.map`;
  if (named.startsWith('data:')) return named;
  return URL.canParse(named, url) ? new URL(named, url).href : null;
}

/** Whether a script names a map at its end. */
export function namesMap(script: string): boolean {
  return mapReferenceIn(script) !== null;
}

function mapReferenceIn(script: string): string | null {
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
  const [head] = /^data:[^,]{0,200},/.exec(url) ?? [];
  if (head === undefined) return null;
  const body = url.slice(head.length);
  if (/;base64,$/i.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  try {
    return decodeURIComponent(body);
  } catch {
    return null;
  }
}
