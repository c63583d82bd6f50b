import { isCode } from './imports.js';
import { parseSource, type SourceFile } from './source-file.js';

const script = /(<script\b[^>]*>)([\s\S]*?)<\/script>/g;
const blanked = (part: string) => part.replaceAll(/[^\n]/g, ' ');

/**
 * Parses the programs of a file: the file itself, or the scripts of a page or component, with their line numbers kept. What does not parse
 * is left out.
 */
export function programsIn(path: string, text: string): SourceFile[] {
  const key = `${path}\n${text}`;
  const found = known.get(key) ?? parsed(path, text);
  known.set(key, found);
  return found;
}

/** Several checks ask for the same file in turn. */
const known = new Map<string, SourceFile[]>();

function parsed(path: string, text: string): SourceFile[] {
  if (isCode(path)) return [parseSource(path, text) ?? []].flat();
  return [...text.matchAll(script)].flatMap(({ index, 1: tag = '', 2: inside = '' }) => {
    const source = parseSource(`${path}.ts`, blanked(text.slice(0, index + tag.length)) + inside);
    return source ? { ...source, path } : [];
  });
}

/** Blanks out the scripts of a page or component, and keeps the line numbers of the rest. */
export function withoutScripts(text: string): string {
  return text.replaceAll(script, blanked);
}
