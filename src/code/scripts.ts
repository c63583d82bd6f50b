import { isCode } from './imports.js';
import { parseSource, type SourceFile } from './source-file.js';

/** Files of tags: pages, components and templates. */
export const template = /\.(?:vue|svelte|astro|html?|ejs|hbs)$/;

const script = /(<script\b[^>]*>)([\s\S]*?)<\/script>/g;
const blanked = (part: string) => part.replaceAll(/[^\n]/g, ' ');

/** The programs of a file: its own, or those of a page's or a component's scripts, line for line; what does not parse is none. */
export function programsIn(path: string, text: string): SourceFile[] {
  const key = `${path}\n${text}`;
  const found = known.get(key) ?? parsed(path, text);
  if (known.size > MAX_KNOWN) known.clear();
  known.set(key, found);
  return found;
}

/** A file is asked for by several checks, one after the other. */
const known = new Map<string, SourceFile[]>();
const MAX_KNOWN = 100;

function parsed(path: string, text: string): SourceFile[] {
  if (isCode(path)) return [parseSource(path, text) ?? []].flat();
  return [...text.matchAll(script)].flatMap(({ index, 1: tag = '', 2: inside = '' }) => {
    const source = parseSource(`${path}.ts`, blanked(text.slice(0, index + tag.length)) + inside);
    return source ? { ...source, program: source.program, path } : [];
  });
}

/** A page or a component without its scripts, line for line. */
export function withoutScripts(text: string): string {
  return text.replaceAll(script, blanked);
}
