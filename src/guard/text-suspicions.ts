import type { Violation } from '../model/guard-findings.js';
import type { AppFile } from './programs.js';
import { violationOf } from './rules.js';
import type { TestValues } from './test-values.js';

const ofMarkup =
  /\b(?:required|disabled|readonly|minlength|maxlength|pattern)\b(?=[^<>]*>)|\{#if|v-(?:if|show)/gi;
const ofTables = /\b(?:NOT NULL|CHECK|UNIQUE|REFERENCES)\b/gi;
const ofCode = /\b(?:if|elif|elsif|unless|case|when|switch|assert|raise|throw|abort|validates?\w*)\b/g;
const comparing = /\b(?:if|elif|elsif|unless|case|when|in)\b|[=!]==?|\?|\{#if/;
const swallowing =
  /\bexcept\b[^\n]*:\s*(?:pass|return\b[^\n]*|continue)|\brescue\b[^\n]*\n\s*(?:nil|end|true|false)\b|\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}/g;

/** How a file that is not parsed decides; null for one that decides nothing. */
function decidingIn(file: string): RegExp | null {
  if (/\.(?:json|ya?ml|toml|md|css|scss|less|svg|lock|txt)$/.test(file)) return null;
  if (file.endsWith('.sql')) return ofTables;
  return /\.(?:html?|vue|svelte|astro)$/.test(file) ? ofMarkup : ofCode;
}

/** Shortens code for a message. */
export const shown = (code: string) => `\`${code.length > 120 ? `${code.slice(0, 120)}…` : code}\``;

/** Finds the same in what is not parsed: other languages, the markup of pages and components. */
export function suspicionsInText(
  { path: file, rest }: AppFile,
  old: string,
  values: TestValues,
): Violation[] {
  const deciding = decidingIn(file);
  if (old === rest || deciding === null) return [];
  const linesOf = (text: string, other: string) => {
    const known = new Set(other.split('\n').map((line) => line.trim()));
    const all = text.split('\n').map((one, index) => ({ text: one.trim(), line: index + 1 }));
    return all.filter((one) => !known.has(one.text));
  };
  const count = (text: string, what: RegExp) => text.match(what)?.length ?? 0;
  const [gone, come] = [linesOf(old, rest), linesOf(rest, old)];
  const lost = old !== '' && count(rest, deciding) < count(old, deciding);
  const literals = come.filter(
    ({ text }) =>
      comparing.test(text) &&
      [...text.matchAll(/(["'`])((?:(?!\1).)+)\1/g)].some(([, , literal = '']) => values.isTyped(literal)),
  );
  return [
    ...literals.map(({ text: after, line }) =>
      violationOf('test-value-decides', { file, line, after, detail: shown(after) }),
    ),
    ...(lost ? gone.filter(({ text }) => count(text, deciding) > 0).slice(0, 1) : []).map(
      ({ text: before, line }) => violationOf('check-lost', { file, line, before, detail: shown(before) }),
    ),
    ...(count(rest, swallowing) > count(old, swallowing) ? come.slice(0, 1) : []).map(
      ({ text: after, line }) =>
        violationOf('exception-swallowed', { file, line, after, detail: shown(after) }),
    ),
  ];
}
