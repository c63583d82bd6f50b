import { ownPath, type OwnCode } from './own-frame.js';

const file = String.raw`((?:[A-Za-z]:)?[\w.@~$()[\]/\\-]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less))`;

/** How compilers name the file with the error, the most precise first: file, and line and column where they are given. */
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
/** The file's name is a heading a little above the error, or in the excerpt below it. */
const above = 300;
const below = 2_000;

/** The file, relative to the project, that a compiler reports an error in, with line and column where they are given; else null. */
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

/** The text around one of its lines; the whole text where the line is not in it. */
export function around(text: string, line: string): string {
  const at = text.indexOf(line);
  return at === -1 ? text : text.slice(Math.max(0, at - above), at + line.length + below);
}
