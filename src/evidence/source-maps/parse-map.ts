import { AnyMap, decodedMappings, type TraceMap } from '@jridgewell/trace-mapping';
import { jsonOf } from '../../json-of.js';
import { field, listOf, stringOr } from '../unknown-fields.js';

/** A usable source map, or why there is none. */
export type ParsedMap =
  | { readonly kind: 'mapped'; readonly map: TraceMap }
  | { readonly kind: 'unknown'; readonly because: string };

/**
 * Parses a source map, including index maps. Its sources are relative to `url`, where it was found. The input is
 * untrusted; never throws.
 */
export function parseMap(text: string, url: string | null): ParsedMap {
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
