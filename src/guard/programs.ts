import { isCode } from '../code/imports.js';
import { parseSource, type SourceFile } from '../code/source-file.js';
import type { FileEdit } from './request.js';

/** Longer files, in characters, are hardly written by hand. */
const MAX_TEXT = 200_000;

const script = /(<script\b[^>]*>)([\s\S]*?)<\/script>/g;
/** Where a template computes: a directive or a bound attribute, an interpolation, a block. */
const expression = /\s(?:v-[\w:.-]+|[:@][\w:.-]+)="([^"]*)"|\{\{([^}]*)\}\}|\{#(?:if|each)([^}]*)\}/g;
const blanked = (part: string) => part.replaceAll(/[^\n]/g, ' ');

/** A file of the app in one state: its programs, and the text that is not parsed, with the lines where they were. */
export interface AppFile {
  readonly path: string;
  readonly text: string;
  readonly programs: readonly SourceFile[];
  readonly rest: string;
}

/** Reads a file of the app: code is one program, a page or a component has its scripts, and what does not parse is text. */
export function appFileOf({ path }: FileEdit, state: FileEdit['after']): AppFile {
  const text = state?.text ?? '';
  if (text.length > MAX_TEXT) return { path, text: '', programs: [], rest: '' };
  if (isCode(path)) {
    const source = parseSource(path, text);
    return { path, text, programs: source ? [source] : [], rest: source ? '' : text };
  }
  const scripts = [...text.matchAll(script)].map(({ index, 1: tag = '', 2: code = '' }) => ({
    at: index + tag.length,
    code,
  }));
  const markup = text.replaceAll(script, blanked);
  const expressions = [...markup.matchAll(expression)].map(
    ({ index, 0: match, 1: bound, 2: interpolated, 3: block }) => {
      const code = bound ?? interpolated ?? block ?? '';
      return {
        at: index + match.lastIndexOf(code) - 1,
        code: `(${code})`,
      };
    },
  );
  const programs = [...scripts, ...expressions].flatMap(({ at, code }) => {
    const source = parseSource(`${path}.ts`, blanked(text.slice(0, at)) + code);
    return source ? { ...source, path, program: source.program } : [];
  });
  return { path, text, programs, rest: markup };
}
