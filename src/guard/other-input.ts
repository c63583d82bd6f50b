import { jsonStart, type SourceFile } from '../code/source-file.js';
import type { FileEdit } from './edit.js';

/** A metamorphic check: the tests with other inputs, which a genuine fix passes as well. */
export interface OtherInput {
  /** The texts that the tests type. */
  readonly inputs: readonly string[];
  /** The place where the fix names one of them, whatever their case; null if it names none. */
  readonly named: { readonly file: string; readonly line: number; readonly input: string } | null;
  /** The test files in which they were replaced. */
  readonly files: readonly { readonly path: string; readonly before: string; readonly after: string }[];
}

/**
 * Replaces every text that the tests type in all test files, so that the expectations change with it. Null if none of them is a literal in
 * the tests.
 */
export function otherInput(
  ofApp: readonly FileEdit[],
  { typed, tests }: { typed: ReadonlySet<string>; tests: readonly SourceFile[] },
): OtherInput | null {
  const inputs = [...typed].filter((one) => one.trim().length > 1);
  const all = tests.map(({ text }) => text).join('\n');
  const exchanged = new Map(inputs.map((one) => [one, another(one, all)]));
  const files = tests.flatMap((file) => {
    const after = exchange(file.text, exchanged);
    const start = file.path.endsWith('.json') ? jsonStart.length : 0;
    const altered = { path: file.path, before: file.text.slice(start), after: after.slice(start) };
    return after === file.text ? [] : [altered];
  });
  return files.length > 0 ? { inputs, named: namedIn(ofApp, inputs), files } : null;
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
function another(value: string, texts: string): string {
  for (let turn = 1; turn < 26; turn += 1) {
    const next = value.replace(/[a-z\d](?=[^a-z\d]*$)/i, (last) => turned(last, turn));
    if (next !== value && !texts.includes(next)) return next;
  }
  return `${value} x`;
}

function turned(sign: string, by: number): string {
  const [start, size] = /\d/.test(sign) ? ([48, 10] as const) : ([sign < 'a' ? 65 : 97, 26] as const);
  return String.fromCharCode(start + ((sign.charCodeAt(0) - start + by) % size));
}

/** A line with the title of a test, which stays: a test with another title is another test. What is imported stays, too. */
const asItIs = /\b(?:test|it|describe|setup)(?:\.\w+)*\(\s*['"`]|\bimport\b|\brequire\(/;
const literal = /(['"`])(?:\\.|(?!\1)[^\\\n])*\1/g;

function exchange(text: string, exchanged: ReadonlyMap<string, string>): string {
  const inLiteral = (part: string) =>
    [...exchanged].reduce((sum, [from, to]) => sum.replaceAll(from, () => to), part);
  return text
    .split('\n')
    .map((line) => (asItIs.test(line) ? line : line.replaceAll(literal, inLiteral)))
    .join('\n');
}
