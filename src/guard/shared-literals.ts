import { calleeOf, constantOf, cookedText, isFunction, propertyOf } from '../code/expressions.js';
import { programsIn, template, withoutScripts } from '../code/scripts.js';
import type { SourceFile } from '../code/source-file.js';
import { childrenOf, nodeIn, nodesIn, nodesOf, type SyntaxNode } from '../code/syntax.js';
import { codeInMarkup, otherLanguage } from './checks/other-languages.js';
import type { FileEdit } from './edit.js';

/** A literal that a fix added to the app and that a test uses, too. The app may answer this test alone. */
export interface SharedLiteral {
  readonly value: string | number;
  /** Where the fix added it. */
  readonly file: string;
  readonly line: number;
  /** Whether the app decides by it: it is compared with something, or used as a key. */
  readonly decides: boolean;
  /** Whether it looks hard-coded: it is no word of the app's own and leads to another literal of the tests, or it is a figure that they expect. */
  readonly isAnswered: boolean;
}

/** A literal and its node. */
export interface Literal {
  readonly value: string | number;
  readonly node: SyntaxNode;
}

/** Finds the literals that a fix added to the app and that these test files use, too. */
export function sharedLiterals(
  edits: readonly FileEdit[],
  tests: readonly SourceFile[],
): readonly SharedLiteral[] {
  const used = new Set(tests.flatMap(({ program }) => literalsIn(program).map(({ value }) => value)));
  const texts = [...used].join('\n');
  const isUsed = (value: string | number) =>
    typeof value === 'string'
      ? used.has(value)
      : new RegExp(String.raw`(?<![\d.])${value}(?!\d)`).test(texts);
  const expected = new Set(tests.flatMap(({ program }) => textsIn(program)).flatMap(figuresIn));
  const shared = edits.flatMap((edit) => [
    ...addedLiterals(edit, isUsed),
    ...(data.test(edit.path) ? [] : addedFigures(edit, expected)),
  ]);
  return [...new Map(shared.map((one) => [`${one.value} ${one.decides}`, one])).values()];
}

/** Lists strings of two or more characters, and numbers of two or more digits or with a fraction. Shorter ones are too common. */
export function literalsIn(program: SyntaxNode): Literal[] {
  return nodesOf(program).flatMap((node) => {
    const value = tellingValue(node);
    return value === null ? [] : [{ value, node }];
  });
}

function tellingValue(node: SyntaxNode): string | number | null {
  if (node.type !== 'Literal' && node.type !== 'TemplateLiteral') return null;
  const value = constantOf(node);
  return (typeof value === 'string' || typeof value === 'number') && isTelling(value) ? value : null;
}

function isTelling(value: string | number): boolean {
  return typeof value === 'string' ? value.trim().length > 1 : value > 9 || value % 1 !== 0;
}

/** A literal in a file of the app. `chosen` are the literals that it leads to, if code decides by it. */
interface Written {
  readonly value: string | number;
  readonly line: number;
  readonly chosen: readonly (string | number)[] | null;
}

function addedLiterals(
  { path, before, after }: FileEdit,
  isUsed: (value: string | number) => boolean,
): SharedLiteral[] {
  const [olds = [], news = []] = [before, after].map((one) => writtenIn(path, one?.text ?? ''));
  const known = new Set(olds.map(({ value }) => value));
  return news
    .filter(({ value }) => !known.has(value) && isUsed(value))
    .map(({ value, line, chosen }) => {
      const isOwn = typeof value === 'number' || ownWord.test(value);
      const isAnswered = !isOwn && (chosen ?? []).some(isUsed);
      return { value, file: path, line, decides: chosen !== null, isAnswered };
    });
}

function writtenIn(path: string, text: string): Written[] {
  const parsed = programsIn(path, text).flatMap((file) => {
    const deciding = decidingNodes(file.program);
    return literalsIn(file.program).map(({ value, node }) => {
      return { value, line: file.lineAt(node.start), chosen: deciding.get(node) ?? null };
    });
  });
  return otherLanguage.test(path) ? [...parsed, ...writtenInLines(path, withoutScripts(text))] : parsed;
}

const comparison = /[!=]==?|=>|\b(?:in|is|eq|case|when|exclude|filter|where|contains|include\?)\b/;
const quoted = /"((?:[^"\\\n]|\\.)+)"|'((?:[^'\\\n]|\\.)+)'|(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])/g;

/** Reads code that is not parsed, line by line: a line that compares decides by its literals, and leads to those of the next one. */
function writtenInLines(path: string, text: string): Written[] {
  // Of a template, only the code in it counts.
  const lines = text
    .split('\n')
    .map((line) => (codeInMarkup.test(path) ? (line.match(inserted) ?? []).join(' ') : line));
  const all = lines.map((line) =>
    [...line.replace(/(?:^|\s)(?:#|\/\/).*/, '').matchAll(quoted)].flatMap(([, double, single, number]) => {
      const text = double ?? single ?? number ?? '';
      const value = /^\d+$/.test(text) || number !== undefined ? Number(text) : text;
      return isTelling(value) ? [value] : [];
    }),
  );
  return all.flatMap((values, index) =>
    values.map((value) => {
      const others = [...values.filter((one) => one !== value), ...(all[index + 1] ?? [])];
      return { value, line: index + 1, chosen: comparison.test(lines[index] ?? '') ? others : null };
    }),
  );
}

const inserted = /\{[{%].*?[}%]\}|<%.*?%>/g;

/** Files of data and settings, which may contain any figure. */
const data =
  /(?:^|[/._-])(?:seed|fixture|data|migration|config|constant|test|spec|stor(?:y|ies))s?(?:[/._-]|$)/i;
const numberOfStatus = /^(?:20\d|30\d|4[0-5]\d|50\d)$/;

/** Returns every string and number of a program, including text between tags. */
function textsIn(program: SyntaxNode): { text: string; node: SyntaxNode }[] {
  return nodesOf(program).flatMap((node) => {
    const value = node.type === 'TemplateElement' ? cookedText(node) : node['value'];
    const isText =
      /^(?:Literal|JSXText|TemplateElement)$/.test(node.type) && /^(?:string|number)$/.test(typeof value);
    const number = typeof value === 'number' && value % 1 !== 0 ? value.toFixed(2) : String(value);
    return isText ? [{ text: number, node }] : [];
  });
}

/**
 * Returns the digits of the figures in a text that are too specific for a coincidence: `5950` for `€59.50`, 59.5 and 5950 cents. Years,
 * HTTP statuses and round numbers are left out.
 */
function figuresIn({ text }: { text: string }): string[] {
  if (/^\.{0,2}\/|:\/\//.test(text)) return [];
  return [...text.matchAll(/(?<![\w.-])\d[\d.,]*\d(?![\w-])/g)]
    .filter(([figure]) => !numberOfStatus.test(figure) && !/^(?:19|20)\d\d$/.test(figure))
    .flatMap(([figure]) => [figure, figure.replace(/[.,]00$/, '')])
    .map((figure) => figure.replaceAll(/[.,]/g, '').replace(/^0+/, ''))
    .filter((digits) => digits.length > 2 && !/^\d0+$/.test(digits));
}

function addedFigures({ path, before, after }: FileEdit, expected: ReadonlySet<string>): SharedLiteral[] {
  const [olds = [], news = []] = [before, after].map((one) => textsOfFile(path, one?.text ?? ''));
  const known = new Set(olds.flatMap(figuresIn));
  return news
    .filter((one) => figuresIn(one).some((figure) => expected.has(figure) && !known.has(figure)))
    .map(({ text, line }) => ({ value: text.trim(), file: path, line, decides: false, isAnswered: true }));
}

/** Returns the strings and numbers of a file's programs, and the lines of a template or of code that is not parsed. */
function textsOfFile(path: string, text: string): { text: string; line: number }[] {
  const written = programsIn(path, text).flatMap((file) =>
    textsIn(file.program).map((one) => ({ text: one.text, line: file.lineAt(one.node.start) })),
  );
  const isShown = template.test(path) || otherLanguage.test(path);
  const shown = isShown ? withoutScripts(text).split('\n') : [];
  return [...written, ...shown.map((one, index) => ({ text: one, line: index + 1 }))];
}

/** A word that the app itself may use: no spaces or `@`, and digits only after a letter. Numbers count as such, too: statuses and keys. */
const ownWord = /^(?:[^\s@\d]|(?<=[a-z])\d)*$/i;
const lookups = /^(?:includes|startsWith|endsWith|has|get|indexOf|localeCompare|test|match)$/;
/** For types of nodes, the field by which they decide and the field that they choose. */
const choices: readonly (readonly [node: RegExp, asked: string, chosen: string])[] = [
  [/^(?:If|Conditional|SwitchCase)/, 'test', 'consequent'],
  [/^Property$/, 'key', 'value'],
  [/^Member/, 'property', ''],
];

/**
 * Finds the nodes by which code decides, as in `name === 'Ada'`, `case 'Ada':`, `{ Ada: … }`, `answers['Ada']` or `['Ada'].includes(name)`,
 * each with the literals in what it chooses.
 */
function decidingNodes(program: SyntaxNode): ReadonlyMap<SyntaxNode, readonly Literal['value'][]> {
  const found = new Map<SyntaxNode, readonly Literal['value'][]>();
  const partsOf = (node: SyntaxNode, field: string) => [nodeIn(node, field) ?? nodesIn(node, field)].flat();
  // Children first: an `if` adds what it chooses to the comparisons found in its condition.
  for (const node of nodesOf(program).toReversed()) {
    const [, asked = '', chosen = ''] = choices.find(([type]) => type.test(node.type)) ?? [];
    const isCompared = node.type === 'BinaryExpression' && /^[!=]==?$/.test(String(node['operator']));
    const isAsking = isCompared || lookups.test(propertyOf(calleeOf(node)) ?? '');
    const parts = isAsking ? childrenOf(node) : partsOf(node, asked);
    const asks = parts.filter((one) => !isFunction(one)).flatMap(nodesOf);
    // What is chosen by an error's message is the app's own.
    const isOwn = asks.some((one) => propertyOf(one) === 'message');
    const answers = [...parts.filter(isFunction), ...(isOwn ? [] : partsOf(node, chosen))];
    const values = answers.flatMap(literalsIn).map(({ value }) => value);
    const isChoice = /^(?:If|Conditional)/.test(node.type);
    for (const one of asks.filter((part) => !isChoice || found.has(part)))
      found.set(one, [...(found.get(one) ?? []), ...values]);
  }
  return found;
}
