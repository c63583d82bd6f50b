import { AnyMap, decodedMappings, type TraceMap } from '@jridgewell/trace-mapping';
import { z } from 'zod';
import { parseJson } from '../../parse-json.js';
import { decodePercent } from '../../urls.js';

/** A usable source map, or why there is none. */
export type ParsedMap =
  | { readonly kind: 'mapped'; readonly map: TraceMap }
  | { readonly kind: 'unknown'; readonly because: string };

const version = z.coerce.number().pipe(z.literal(3));
/** Checks that `mappings` is base64 VLQ, because the library ignores invalid characters and would return wrong lines. */
const plainMap = z.looseObject({
  version,
  sources: z.array(z.string().nullable()),
  mappings: z.string().regex(/^[A-Za-z\d+/;,]*$/),
});
const indexMap = z.looseObject({ version, sections: z.array(z.looseObject({ map: plainMap })).nonempty() });
const anyMap = z.union([plainMap, indexMap]);

/** Parses a source map, including index maps. Its sources are relative to `url`, its own address. Never throws. */
function parseMap(text: string, url: string | null): ParsedMap {
  // Some servers put a line before the JSON to keep browsers from running it as a script: https://tc39.es/ecma426/
  const { data } = anyMap.safeParse(parseJson(text.replace(/^\)\]\}'[^\n]*\n/, '')));
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

const MAX_CACHED = 3;

/** Caches the last few maps: a run's failures come from the same few bundles, and parsing a map of 15 MB takes almost a second. */
export class ParsedMaps {
  #cache: { readonly text: string; readonly url: string | null; readonly parsed: ParsedMap }[] = [];

  parse(text: string, url: string | null): ParsedMap {
    const cached = this.#cache.find((entry) => entry.url === url && entry.text === text);
    const entry = cached ?? { text, url, parsed: parseMap(text, url) };
    this.#cache = [entry, ...this.#cache.filter((other) => other !== entry)].slice(0, MAX_CACHED);
    return entry.parsed;
  }
}

/** Only comments may follow a script's reference: an earlier reference belongs to a module inside the bundle, or to a string. */
const reference = /^sourceMappingURL=([^\s'"*\\]+)(?:\s|\*\/|\/\/[#@][^\n]{0,500}(?=\n|$))*$/;

/** Returns the address of the map that a script names at its end; null if it names none. */
export function findMapReference(script: string): string | null {
  const start = script.lastIndexOf('sourceMappingURL=');
  const isComment = /\/[/*][#@]\s?$/.test(script.slice(Math.max(0, start - 4), Math.max(0, start)));
  return isComment ? (reference.exec(script.slice(start))?.[1] ?? null) : null;
}

/** Returns the URL of a script's map: inline, named at the script's end, or next to the script; null if it is not a valid URL. */
export function resolveMapUrl(script: string, url: string): string | null {
  const address = findMapReference(script) ?? `${url}.map`;
  if (address.startsWith('data:')) return address;
  return URL.canParse(address, url) ? new URL(address, url).href : null;
}

/**
 * Returns the URL of the inline map of one module of a bundle with `eval`ed modules (webpack's `eval-source-map`), where `address`
 * is the module's `sourceURL`; null if the script contains no such module.
 */
export function findEvaluatedMapUrl(script: string, address: string): string | null {
  const name = `sourceURL=${address}`;
  for (let at = script.indexOf(name); at >= 0; at = script.indexOf(name, at + 1)) {
    if (/^[\w./?-]/.test(script.slice(at + name.length, at + name.length + 1))) continue;
    const map = script.lastIndexOf('sourceMappingURL=', at);
    const previous = script.lastIndexOf('sourceURL=', at - 1);
    if (map < 0 || map < previous) return null;
    return /^sourceMappingURL=(data:[^\s\\'"]+)/.exec(script.slice(map, at))?.[1] ?? null;
  }
  return null;
}

/** Returns the text in a `data:` URL, base64 or percent-encoded. */
export function decodeDataUrl(url: string): string {
  const comma = url.indexOf(',');
  const content = url.slice(comma + 1);
  return /;base64$/i.test(url.slice(0, comma))
    ? Buffer.from(content, 'base64').toString('utf8')
    : decodePercent(content);
}
