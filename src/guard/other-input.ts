import { print } from '../code/locators.js';
import type { SourceFile } from '../code/source-file.js';
import {
  calleeOf,
  constantOf,
  identifierName,
  isFunction,
  lastName,
  nodeIn,
  nodesIn,
  nodesOf,
  type SyntaxNode,
} from '../code/syntax.js';
import type { Change } from './change.js';
import type { GuardRequest } from './request.js';
import { importedBy, type TestCode } from './test-code.js';

/** What a metamorphic check needs: the texts that the tests type, for which a genuine fix answers any others as well. */
export interface OtherInput {
  /** The texts that can be exchanged, since the tests' files say them. */
  readonly inputs: readonly string[];
  readonly files: readonly string[];
}

/** Joins what the fixes of one chain need. */
export function joinedInput(all: readonly OtherInput[]): OtherInput {
  return {
    inputs: [...new Set(all.flatMap(({ inputs }) => inputs))],
    files: [...new Set(all.flatMap(({ files }) => files))],
  };
}

const typing = /^(?:fill|type|pressSequentially|insertText)$/;

/** Returns the code of the tests to heal, with what they import; empty if these are unknown. */
export function testsOfHealed(healed: GuardRequest['healed'], now: TestCode): SourceFile[] {
  const concerned = importedBy(now, new Set(healed));
  return [...now.parsed.values()].filter(({ path }) => concerned.has(path));
}

/** Finds the texts that the healed tests type and that can be exchanged; null if they type nothing. */
export function otherInputOf({ request: { healed }, now }: Change): OtherInput | null {
  const tests = testsOfHealed(healed, now);
  const typed = typedIn(tests)?.exchangeable ?? null;
  if (typed === null) return null;
  const isSaid = (input: string) =>
    tests.some(({ text }) => exchangeLiterals(text, new Map([[input, '']])) !== text);
  const inputs = [...typed].filter((text) => text.trim().length > 1 && isSaid(text));
  if (inputs.length === 0) return null;
  return { inputs, files: tests.map(({ path }) => path) };
}

/** What tests type, and what of it does not sign in. */
interface Typed {
  readonly all: ReadonlySet<string>;
  readonly exchangeable: ReadonlySet<string>;
}

/**
 * Returns the texts that tests type: as they are written where they are typed, or as they are given to a function, a constant or a field whose
 * name stands there. Null if nothing is typed.
 */
export function typedIn(tests: readonly SourceFile[]): Typed | null {
  const nodes = tests.flatMap(({ program }) => nodesOf(program));
  const calls = nodes.filter(({ type }) => type === 'CallExpression');
  const nameOfCall = (call: SyntaxNode) => lastName(calleeOf(call));
  const typers = new Set<string>();
  const isTyping = (call: SyntaxNode) => typing.test(nameOfCall(call)) || typers.has(nameOfCall(call));
  if (!calls.some(isTyping)) return null;
  const argumentsOf = (call: SyntaxNode) =>
    nodesIn(call, 'arguments').flatMap((argument) => nodesOf(argument));
  const functions = nodes.flatMap((node) => {
    const value = isFunction(node) ? node : (nodeIn(node, 'value') ?? nodeIn(node, 'init'));
    const name = identifierName(nodeIn(node, 'id') ?? nodeIn(node, 'key')) ?? '';
    return value && isFunction(value)
      ? [{ name, calls: nodesOf(value).filter(({ type }) => type === 'CallExpression') }]
      : [];
  });
  for (let count = -1; count !== typers.size;) {
    count = typers.size;
    const passes = (call: SyntaxNode) =>
      isTyping(call) && argumentsOf(call).some(({ type }) => type === 'Identifier');
    for (const fn of functions) if (fn.name !== '' && fn.calls.some(passes)) typers.add(fn.name);
  }
  const textsIn = (some: readonly SyntaxNode[]) => {
    const nodesGiven = some.flatMap(argumentsOf);
    const names = new Set(
      nodesGiven.flatMap((node) => (node.type === 'Identifier' ? String(node['name']) : [])),
    );
    const held = nodes.flatMap((node) => {
      const [name, value] = /^(?:VariableDeclarator|Property)$/.test(node.type)
        ? [
            identifierName(nodeIn(node, 'id') ?? nodeIn(node, 'key')),
            nodeIn(node, 'init') ?? nodeIn(node, 'value'),
          ]
        : [null, null];
      return value && names.has(name ?? '') ? [value] : [];
    });
    const texts = [...nodesGiven, ...held].map((node) => constantOf(node));
    return new Set(texts.filter((text): text is string => typeof text === 'string' && text !== ''));
  };
  // Who is signed in is no input of what is tested: up to the password, a function signs in.
  const isSecret = (call: SyntaxNode) =>
    isTyping(call) && /pass-?(?:word|code|phrase)|\botp\b/i.test(print(call));
  const signing = functions.flatMap((fn) => {
    const last = fn.calls.findLastIndex(isSecret);
    return last === -1 ? [] : fn.calls.slice(0, last + 1).filter(isTyping);
  });
  const signers = new Set(functions.filter((fn) => fn.calls.some(isSecret)).map(({ name }) => name));
  const isSigning = (call: SyntaxNode) =>
    signing.includes(call) ||
    signers.has(nameOfCall(call)) ||
    /(?:log|sign).?in$|^auth/i.test(nameOfCall(call));
  const all = textsIn(calls.filter(isTyping));
  const signedIn = textsIn(calls.filter(isSigning));
  return { all, exchangeable: new Set([...all].filter((text) => !signedIn.has(text))) };
}

/** Replaces these texts in all files, by path, so that the expectations change with them. Returns the files that are different then. */
export function exchangeInputs(
  files: ReadonlyMap<string, string>,
  inputs: readonly string[],
): ReadonlyMap<string, string> {
  const all = [...files.values()].join('\n');
  const exchanged = new Map(inputs.map((input) => [input, similarValue(input, all)]));
  const altered = [...files].map(([file, text]) => [file, exchangeLiterals(text, exchanged)] as const);
  return new Map(altered.filter(([file, text]) => files.get(file) !== text));
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
