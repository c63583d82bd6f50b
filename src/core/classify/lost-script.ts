import type { NetworkEntry } from '../evidence.js';

/** A name that no script defined. */
const undefinedName = /\b[\w$]{1,80} is not defined\b|Can't find variable: /;
/** Something that a script should have defined. */
const undefinedPart =
  /Cannot (?:read|set) properties of undefined|undefined is not an object|is not a (?:function|constructor)\b|\bis undefined\b/;

/** What engines say of a page in place of a script. */
const pageForScript = /Unexpected token '<'|expected expression, got '<'/;

/**
 * Returns a predicate: whether code of the page threw because one of these scripts did not load, so that the exception is not the
 * cause (CS-7). For another site's script, only undefined names and the library's own name are certain enough.
 */
export function isCausedBy(
  lost: readonly NetworkEntry[],
  own: (url: string) => boolean,
): (thrown: { readonly text: string; readonly time?: number }) => boolean {
  return ({ text, time = Infinity }) =>
    lost.some(
      (script) =>
        script.time <= time &&
        (undefinedName.test(text) ||
          namesLibrary(text, script.url) ||
          (own(script.url) && undefinedPart.test(text)) ||
          (script.failure?.includes('text/html') === true && pageForScript.test(text))),
    );
}

/** Whether a text names the library that a script's URL contains: `highlight` in `/9.12.0/highlight.min.js`. */
function namesLibrary(text: string, url: string): boolean {
  const name = /\/([a-z]{4,60})[^/?#]{0,100}(?:[?#].*)?$/i.exec(url)?.[1]?.toLowerCase();
  return (
    name !== undefined &&
    text
      .toLowerCase()
      .split(/[^a-z]+/)
      .includes(name)
  );
}
