import type { SourceFile } from '../code/source-file.js';
import {
  calleeOf,
  constantOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
} from '../code/syntax.js';
import type { Change } from './change.js';
import type { FileEdit } from './request.js';
import { importedBy } from './test-code.js';

/** What a metamorphic check needs: the texts that the tests type, for which a genuine fix answers any others as well. */
export interface OtherInput {
  /** The texts that can be exchanged, since the tests' files say them. */
  readonly inputs: readonly string[];
  /** The place where the fix names one of them, whatever their case; null if it names none. */
  readonly named: { readonly file: string; readonly line: number; readonly input: string } | null;
  readonly files: readonly string[];
}

const typing = /^(?:fill|type|pressSequentially|insertText)$/;

/** Finds the texts that the healed tests type and that can be exchanged; null if they type nothing, or the fix is not in the app. */
export function otherInputOf({ request: { healed }, now, ofApp }: Change): OtherInput | null {
  const specs = new Set(healed);
  if (ofApp.length === 0 || specs.size === 0) return null;
  const concerned = importedBy(now, specs);
  const tests = [...now.parsed.values()].filter(({ path }) => concerned.has(path));
  const typed = typedIn(tests);
  if (typed === null) return null;
  const isSaid = (input: string) =>
    tests.some(({ text }) => exchangeLiterals(text, new Map([[input, '']])) !== text);
  const inputs = [...typed].filter((one) => one.trim().length > 1 && isSaid(one));
  return { inputs, named: namedIn(ofApp, inputs), files: tests.map(({ path }) => path) };
}

/**
 * Returns the texts that tests type: as they are written where they are typed, or as they are given to a function or a constant whose name
 * stands there. Null if nothing is typed.
 */
function typedIn(tests: readonly SourceFile[]): Set<string> | null {
  const nodes = tests.flatMap(({ program }) => nodesOf(program));
  const calls = nodes.filter(({ type }) => type === 'CallExpression');
  const nameOfCall = (call: SyntaxNode) => propertyOf(calleeOf(call)) ?? nameOf(calleeOf(call)) ?? '';
  const typers = new Set<string>();
  const isTyping = (call: SyntaxNode) => typing.test(nameOfCall(call)) || typers.has(nameOfCall(call));
  if (!calls.some(isTyping)) return null;
  const given = (call: SyntaxNode) => nodesIn(call, 'arguments').flatMap((one) => nodesOf(one));
  for (let count = -1; count !== typers.size;) {
    count = typers.size;
    for (const node of nodes) {
      const made = isFunction(node) ? node : (nodeIn(node, 'value') ?? nodeIn(node, 'init'));
      const name = nameOf(nodeIn(node, 'id') ?? nodeIn(node, 'key'));
      if (name === null || !made || !isFunction(made)) continue;
      const passes = (call: SyntaxNode) =>
        isTyping(call) && given(call).some(({ type }) => type === 'Identifier');
      if (nodesOf(made).some((one) => one.type === 'CallExpression' && passes(one))) typers.add(name);
    }
  }
  const said = calls.filter(isTyping).flatMap(given);
  const names = new Set(said.flatMap((one) => (one.type === 'Identifier' ? String(one['name']) : [])));
  const constants = nodes.flatMap((node) =>
    node.type === 'VariableDeclarator' && names.has(nameOf(nodeIn(node, 'id')) ?? '')
      ? (nodeIn(node, 'init') ?? [])
      : [],
  );
  const texts = [...said, ...constants].map((one) => constantOf(one));
  return new Set(texts.filter((one): one is string => typeof one === 'string' && one !== ''));
}

/** Replaces these texts in all files, by path, so that the expectations change with them. Returns the files that are different then. */
export function exchangeInputs(
  files: ReadonlyMap<string, string>,
  inputs: readonly string[],
): ReadonlyMap<string, string> {
  const all = [...files.values()].join('\n');
  const exchanged = new Map(inputs.map((one) => [one, similarValue(one, all)]));
  const altered = [...files].map(([file, text]) => [file, exchangeLiterals(text, exchanged)] as const);
  return new Map(altered.filter(([file, text]) => files.get(file) !== text));
}

function namedIn(edits: readonly FileEdit[], inputs: readonly string[]): OtherInput['named'] {
  for (const { path: file, before, after } of edits) {
    const [was, is] = [before?.text ?? '', after?.text ?? ''].map((one) => one.toLowerCase());
    for (const input of inputs) {
      const at = is?.indexOf(input.toLowerCase()) ?? -1;
      const isNew = at !== -1 && !was?.includes(input.toLowerCase());
      if (isNew) return { file, line: is?.slice(0, at).split('\n').length ?? 1, input };
    }
  }
  return null;
}

/** Returns a similar value that does not occur in the tests: a digit is replaced by a digit, a letter by a letter. */
function similarValue(value: string, texts: string): string {
  for (let turn = 1; turn < 26; turn += 1) {
    const next = value.replace(/[a-z\d](?=[^a-z\d]*$)/i, (last) => rotated(last, turn));
    if (next !== value && !texts.includes(next)) return next;
  }
  return `${value} x`;
}

function rotated(sign: string, by: number): string {
  const [start, size] = /\d/.test(sign) ? ([48, 10] as const) : ([sign < 'a' ? 65 : 97, 26] as const);
  return String.fromCharCode(start + ((sign.charCodeAt(0) - start + by) % size));
}

/** A line with the title of a test, which stays: a test with another title is another test. What is imported stays, too. */
const asItIs = /\b(?:test|it|describe|setup)(?:\.\w+)*\(\s*['"`]|\bimport\b|\brequire\(/;
const literal = /(['"`])(?:\\.|(?!\1)[^\\\n])*\1/g;

function exchangeLiterals(text: string, exchanged: ReadonlyMap<string, string>): string {
  const inLiteral = (part: string) =>
    [...exchanged].reduce((sum, [from, to]) => sum.replaceAll(from, () => to), part);
  return text
    .split('\n')
    .map((line) => (asItIs.test(line) ? line : line.replaceAll(literal, inLiteral)))
    .join('\n');
}
