import { isCode } from '../code/imports.js';
import { parseSource, type SourceFile } from '../code/source-file.js';
import type { SyntaxNode } from '../code/syntax.js';
import type { FileEdit } from './request.js';

/** Longer files, in characters, are hardly written by hand. */
const MAX_TEXT = 200_000;

const script = /(<script\b[^>]*>)([\s\S]*?)<\/script>/g;
const blanked = (part: string) => part.replaceAll(/[^\n]/g, ' ');

/** A file of the app in one state: its programs, and the text that is not parsed, with the lines where they were. */
export interface AppFile {
  readonly path: string;
  readonly programs: readonly SourceFile[];
  readonly rest: string;
}

/** A node with the program that it is in. */
export interface Place {
  readonly node: SyntaxNode;
  readonly source: SourceFile;
}

/** A place that counts as the same as others with the same text. */
export interface Found extends Place {
  readonly text: string;
}

/** Reads a file of the app: code is one program, a page or a component has its scripts, and what does not parse is text. */
export function appFileOf({ path }: FileEdit, state: FileEdit['after']): AppFile {
  const text = state?.text ?? '';
  if (text.length > MAX_TEXT) return { path, programs: [], rest: '' };
  if (isCode(path)) {
    const source = parseSource(path, text);
    return { path, programs: source ? [source] : [], rest: source ? '' : text };
  }
  const programs = [...text.matchAll(script)].flatMap(({ index, 1: tag = '', 2: inside = '' }) => {
    const before = blanked(text.slice(0, index + tag.length));
    const source = parseSource(`${path}.ts`, before + inside);
    return source ? { ...source, path, program: source.program } : [];
  });
  return { path, programs, rest: text.replaceAll(script, blanked) };
}
