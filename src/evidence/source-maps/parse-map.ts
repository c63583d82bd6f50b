import { AnyMap, decodedMappings, type TraceMap } from '@jridgewell/trace-mapping';
import { field, listOf, parseJson, stringOr } from '../unknown-fields.js';

/** A source map that can be asked, or why there is none. */
export type ParsedMap =
  { readonly ok: true; readonly map: TraceMap } | { readonly ok: false; readonly because: string };

/**
 * Reads a source map, an index map of sections too. `url` is where it was found: its sources are relative to that. Anything
 * may stand in the file; never throws.
 */
export function parseMap(text: string, url: string | null): ParsedMap {
  // Some servers put a line before JSON that keeps it from being run as a script: https://tc39.es/ecma426/
  const json = parseJson(text.replace(/^\)\]\}'[^\n]*\n/, ''));
  if (!isMap(json)) return { ok: false, because: 'it is not a version 3 source map' };
  try {
    const map = new AnyMap(json as ConstructorParameters<typeof AnyMap>[0], url);
    // Decodes now what would throw at the first question.
    decodedMappings(map);
    return { ok: true, map };
  } catch {
    return { ok: false, because: 'it is corrupt' };
  }
}

/** Base64 VLQ; the library reads on over anything else, and would answer with wrong lines. */
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
