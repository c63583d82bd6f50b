import { ownPath, type OwnCode } from './own-frame.js';

const file = String.raw`((?:[A-Za-z]:)?[\w.@~$()[\]/\\-]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less))`;

/** How compilers name the file they complain of, the most telling first: file, and line and column where they say them. */
const namings = [
  // tsc, Rollup: `src/a.ts(3,5)`, `src/a.ts (3:5)`; Babel: `/srv/src/a.js: Unexpected token (3:5)`
  new RegExp(String.raw`${file}(?: ?|: [^\n()]{1,200} )\((\d{1,7})[,:](\d{1,7})\)`, 'g'),
  // webpack, Rspack, Sass: `./src/a.js 3:0-28`
  new RegExp(String.raw`${file}:? (\d{1,7}):(\d{1,7})\b`, 'g'),
  // who asked for what could not be found: `Could not resolve "./x" from "src/a.ts"`
  new RegExp(String.raw`\b(?:from|by|in|[Ff]ile:?) ["'\x60]?${file}(?![\w:])`, 'g'),
  // a heading: `./src/app/page.tsx`
  new RegExp(String.raw`^[ \t]{0,4}(?:(?:ERROR|Error) in )?${file}[ \t]*$`, 'gm'),
];
/** Node, before it ends: `file:///srv/server.mjs:12`, the line itself, and a caret under what it could not read. */
const caret = new RegExp(String.raw`^(?:file://)?${file}:(\d{1,7})\n[^\n]{0,1000}\n([ \t]{0,1000})\^`, 'gm');
/** A heading stands a little above the complaint, an excerpt with its position below. */
const above = 300;
const below = 2_000;

/** The file that a compiler complains of, with line and column as they stand beside it, relative to the project; else null. */
export function compiledFile(text: string, code: OwnCode): string | null {
  for (const [, address = '', line, indent = ''] of text.matchAll(caret)) {
    const path = ownPath(address, code);
    if (path !== null) return `${path}:${line}:${indent.length + 1}`;
  }
  for (const naming of namings)
    for (const [, address = '', line, column] of text.matchAll(naming)) {
      const path = ownPath(address.replaceAll('\\', '/'), code);
      if (path !== null) return line && column ? `${path}:${line}:${column}` : path;
    }
  return null;
}

/** What stands around a line of a text; the whole text where the line is not in it. */
export function around(text: string, line: string): string {
  const at = text.indexOf(line);
  return at === -1 ? text : text.slice(Math.max(0, at - above), at + line.length + below);
}
