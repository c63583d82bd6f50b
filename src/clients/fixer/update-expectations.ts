import { readFile } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import {
  unwrap,
  getCallee,
  readName,
  getNode,
  getNodes,
  listNodes,
  type SyntaxNode,
} from '../../code/syntax.js';
import { parseSource, type SourceFile } from '../../code/source-file.js';
import type { Cause } from '../../model/cause.js';
import { type Replacement, applyReplacements } from '../../replacements.js';
import { readLiteralText } from './locator-names.js';
import type { FixerProposal } from './proposal.js';

/** The expected and the received value of an assertion, if Playwright prints them as text. */
interface Mismatch {
  readonly expected: string;
  readonly received: string;
}

/**
 * Updates the expectations of a cause's tests to the current page; a person decides whether the page or the test is right (BL-6). Returns null if more
 * than a literal differs in a failed assertion.
 */
export async function updateExpectations({ members }: Pick<Cause, 'members'>): Promise<FixerProposal | null> {
  const sources = new Map<string, SourceFile | null>();
  const replaced = new Map<SourceFile, Map<number, Replacement>>();
  for (const { location, message } of members.flatMap(({ failure }) => failure.errors)) {
    const mismatch = parseMismatch(stripVTControlCharacters(message));
    if (!location || !mismatch) return null;
    const { file, line } = location;
    if (!sources.has(file))
      sources.set(file, parseSource(file, await readFile(file, 'utf8').catch(() => '')));
    const source = sources.get(file);
    const edit = source && findLiteral(source, line, mismatch);
    if (!source || !edit) return null;
    const edits = replaced.get(source) ?? new Map<number, Replacement>();
    // Tests that share an assertion must have received the same value.
    if ((edits.get(edit.start) ?? edit).text !== edit.text) return null;
    replaced.set(source, edits.set(edit.start, edit));
  }
  if (replaced.size === 0) return null;
  const files = [...replaced].map(([{ path: file, text: before }, edits]) => {
    return { file, before, after: applyReplacements(before, [...edits.values()]) };
  });
  return { summary: "updates the tests' expectations to match the current page", files };
}

const printedValue = String.raw`"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?`;
const createLinePattern = (word: string) =>
  new RegExp(String.raw`^[ \t]*${word}(?: \w+)?:[ \t]*(${printedValue})[ \t]*$`, 'm');
const [expectedLine, receivedLine] = [createLinePattern('Expected'), createLinePattern('Received')];
const diffPattern = /^[ \t]*- Expected[^\n]*\n[ \t]*\+ Received[^\n]*\n\n((?:[-+ ][^\n]*\n|\n(?=[-+ ]))*)/m;

/** Parses Playwright's message, which shows each value on its own line, or the difference between both. */
function parseMismatch(message: string): Mismatch | null {
  const [expected, received] = [expectedLine, receivedLine].map((line) => line.exec(message)?.[1]);
  if (expected !== undefined && received !== undefined)
    return { expected: unescapePrinted(expected), received: unescapePrinted(received) };
  const lines = diffPattern.exec(`${message}\n`)?.[1]?.replace(/\n+$/, '').split('\n');
  // Playwright shows only parts of long differences.
  if (!lines || lines.some((line) => line.trim().startsWith('@@ '))) return null;
  const joinSide = (sign: '-' | '+') =>
    lines
      .flatMap((line) => (line.startsWith(sign) || line.startsWith(' ') ? [line.slice(2)] : []))
      .join('\n');
  return { expected: joinSide('-'), received: joinSide('+') };
}

/** Unescapes a printed text, in which Playwright escapes only quotes and backslashes. */
function unescapePrinted(printed: string): string {
  return printed.startsWith('"') ? printed.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : printed;
}

/** Finds the only literal in an assertion of this line that has the expected value. */
function findLiteral(source: SourceFile, line: number, mismatch: Mismatch): Replacement | null {
  const edits = listNodes(source.program).flatMap((call) => {
    const property = getNode(getCallee(call), 'property');
    const matcher = readName(property) ?? '';
    if (!property || !/^to[A-Z]/.test(matcher) || source.lineAt(property.start) !== line) return [];
    const isNegated = readName(getNode(getNode(getCallee(call), 'object'), 'property')) === 'not';
    return isNegated
      ? []
      : getNodes(call, 'arguments').flatMap((argument) =>
          createLiteralEdits(source, unwrap(argument), { ...mismatch, matcher }),
        );
  });
  return edits.length === 1 ? (edits[0] ?? null) : null;
}

function createLiteralEdits(
  source: SourceFile,
  node: SyntaxNode,
  { matcher, ...mismatch }: Mismatch & { readonly matcher: string },
): Replacement[] {
  const { start, end } = node;
  const ignoresSpace = matcher === 'toHaveText' || matcher === 'toContainText';
  const collapse = (text: string) => (ignoresSpace ? text.replaceAll(/\s+/g, ' ').trim() : text);
  const raw = source.text.slice(start, end);
  if (node.type === 'ArrayExpression') {
    const [expected, received] = [parseList(mismatch.expected), parseList(mismatch.received)];
    const elements = getNodes(node, 'elements').map(readLiteralText);
    if (!expected || !received || elements.length === 0 || elements.join('\0') !== expected.join('\0'))
      return [];
    const quoteMark = source.text[getNodes(node, 'elements')[0]?.start ?? 0] ?? "'";
    return [{ start, end, text: `[${received.map((item) => quote(collapse(item), quoteMark)).join(', ')}]` }];
  }
  const { expected, received } = mismatch;
  if (node.type === 'Literal' && typeof node['value'] === 'number')
    return raw === expected && /^[-\d.]+$/.test(received) ? [{ start, end, text: received }] : [];
  const text = readLiteralText(node);
  if (text === null) return [];
  const replaceWith = (now: string) => [{ start, end, text: quote(now, raw[0] ?? "'") }];
  if (text === expected) return replaceWith(collapse(received));
  // The test may give a URL without its origin.
  const origin = expected.slice(0, -text.length);
  if (
    matcher === 'toHaveURL' &&
    text.startsWith('/') &&
    expected === origin + text &&
    received.startsWith(origin)
  )
    return replaceWith(received.slice(origin.length));
  const [indent] = /^[ \t]*(?=\S)/m.exec(text) ?? [''];
  const dedented = text
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trim()));
  if (matcher !== 'toMatchAriaSnapshot' || dedented.join('\n').trim() !== expected.trim()) return [];
  const lines = received
    .trim()
    .split('\n')
    .map((line) => indent + line)
    .join('\n');
  return replaceWith(`${/^\s*?\n/.exec(text)?.[0] ?? ''}${lines}${/\n\s*$/.exec(text)?.[0] ?? ''}`);
}

/** Returns the texts of a printed `Array [ "Tea", "Coffee" ]`; null for anything else. */
function parseList(printed: string): string[] | null {
  const inside = /^Array \[\n([^]*)\n?\]$/.exec(printed)?.[1];
  if (inside === undefined) return null;
  const items = inside.split('\n').filter((line) => line.trim() !== '');
  const texts = items.map((item) => new RegExp(`^ *(${printedValue}),$`).exec(item)?.[1]);
  return texts.every((text) => text?.startsWith('"'))
    ? texts.map((text) => unescapePrinted(text ?? ''))
    : null;
}

function quote(text: string, mark: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`);
  if (mark === '`') return `\`${escaped.replaceAll('${', '\\${')}\``;
  return `${mark}${escaped.replaceAll('\n', '\\n').replaceAll('\r', '\\r')}${mark}`;
}
