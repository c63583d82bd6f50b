import type { Strength } from './secret-name.js';

/** A name in a text that indicates a secret. */
export interface Named {
  readonly text: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly strength: Strength;
}

/** Where a value is, and which values count as secret there. */
export interface Place {
  readonly at: number;
  readonly tight?: boolean;
  /** Only generated values count here, since code has the same form. */
  readonly random?: boolean;
  /** The value must be the last thing on its line. */
  readonly alone?: boolean;
  /** What ends an unquoted value. */
  readonly until?: RegExp;
}

/** `name: value`, `name=value`, `"name" => value`, `name: string = value`, `NAME ?? value`, `name: { value: 'value' }`, and YAML's `name: |`. */
export const assigned =
  /(?<close>["'`\])]{0,4})[?!]?(?:\s{0,2}:\s{0,2}(?:string|String|str|&str|&'static str)(?:\s?\|\s?null)?(?=\s{0,2}=))?(?<blank>[ \t]{0,40})(?<sign>=>|:=|={1,3}|:|\?\?=?|\|\|=?)(?:\s{0,40}(?=["'`])|[ \t]{0,40})(?:\n\s{0,8}string\(\d{1,6}\) |[|>][+-]?[ \t]{0,4}\n[ \t]{1,40}(?=\S)|\{\s{0,40}["']?value["']?\s{0,4}[:=]\s{0,4}(?=["']))?/y;
/** `["name", "value"]`, `set('name', 'value')`, `name │ 'value'`, `"name" "value"`. */
export const paired = /(?:["'`]?\s{0,8}(?:,|[│|])\s{0,8}|["'`][ \t]{1,4})(?=["'`])/y;
/** `name: 'x', value: …` and `name="x" value="…"`. */
export const besideName =
  /[ \t]{0,4}\n[ \t]{0,40}value: {0,4}(?=["'])|["']\s{0,4},\s{0,40}["']?value["']?\s{0,4}:\s{0,4}(?=["'])|["'][^<>\n]{0,200}?\s(?:value|content)=(?=["'])/y;
/** `<name>value</name>`. */
const element = /(?:\s[^<>\n]{0,200})?>(?=[^<\s])/y;
/** `<td>name</td><td>value</td>`. */
const nextCell = /[:*]?(?:<\/?[a-z][^<>\n]{0,200}>\s{0,40}){2,8}["']?(?=[^<\s])/y;
/** `name    value`, in tables printed without column separators. */
const column = /[ \t]{2,40}(?=\S{4,512}[ \t]*$)/my;
/** `--name value`. */
const flagged = /[ \t]{1,4}(?=[^\s-])/y;
/** `PASSWORD 'value'`, `name value`, `name is value`. */
const apart = /[ \t]{1,4}(?:(?:is|was|as|of|(?:(?:re)?set |changed )?to|->|→|:)[ \t]{1,4})?/y;
/** A part of a multipart form, which may have log timestamps in front of its lines. */
const part = /["'](?:;[^\n]{0,200})?(?:\r?\n(?:\d{12,14} )?(?:content-[^\n]{0,128})?){2,4}/iy;
/** A value that an accessibility snapshot shows in a text box. */
const typed = /(?: [\w ]{1,40})?"(?: \[[^\]\n]{0,40}\]){0,6}: (?=\S)/y;

/** Returns where the value of a name is, in whatever notation; null if there is none. */
export function placeOf(named: Named): Place | null {
  const { text, start, end, name } = named;
  const before = text.slice(Math.max(0, start - 80), start);
  const at = (pattern: RegExp): number | null => {
    pattern.lastIndex = end;
    return pattern.test(text) ? pattern.lastIndex : null;
  };
  const toElement = /<(?:[\w-]{1,32}:)?$/.test(before) ? at(element) : null;
  if (toElement !== null) return { at: toElement, tight: true, until: /</ };
  const toPart = /\bname="$/i.test(before) ? at(part) : null;
  if (toPart !== null) return { at: toPart, tight: true, until: /[\r\n]/ };
  const toTyped = /textbox "[^"\n]{0,64}$/.test(before) ? at(typed) : null;
  if (toTyped !== null) return { at: toTyped, tight: true, until: /\n/ };
  const beside = at(besideName);
  if (beside !== null && /["']$|\bname: {1,4}$/.test(before)) return { at: beside, tight: true };
  const pair = at(paired);
  if (pair !== null) return { at: pair, random: true };
  const isFlag = /(?:^|[\s"'`([])--?$/.test(before);
  assigned.lastIndex = end;
  const sign = assigned.exec(text)?.groups;
  if (sign) {
    const isQuery = /[?&#;][\w.[\]-]{0,40}$/.test(before);
    // A quoted name directly followed by `:"` is JSON written by a program, so its value is data.
    const isJson = named.strength === 'certain' && before.endsWith('"') && text.startsWith('":"', end);
    const tight =
      isQuery ||
      isFlag ||
      isJson ||
      (sign['sign'] === '=' && sign['blank'] === '' && !/\s$/.test(text.slice(end, assigned.lastIndex)));
    return { at: assigned.lastIndex, tight, ...(isQuery ? { until: /[\s&"'<>#;`\\]/ } : {}) };
  }
  const flag = isFlag ? at(flagged) : null;
  if (flag !== null) return { at: flag, tight: true };
  const cell = at(nextCell);
  if (cell !== null) return { at: cell, random: true, until: /[<"'\n]/ };
  const next = /(?:^|\n)[ \t]*$/.test(before) ? at(column) : null;
  if (next !== null) return { at: next, random: true, alone: true };
  const gap = at(apart);
  if (gap === null) return null;
  return { at: gap, random: !/^["'`]/.test(text.slice(gap)) || name === name.toLowerCase() };
}
