import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml';
import { type Diagnostic, findLineStart } from './diagnostic.js';

/** Offsets in the text, with an exclusive end. */
type Span = Pick<Diagnostic, 'start' | 'end'>;

interface YamlText {
  /** Plain data; null for an empty text, undefined if the text cannot be parsed. */
  readonly data: unknown;
  readonly mistakes: readonly Diagnostic[];
  /** Returns the position of the key or value at a path; if it does not exist, the position of the nearest key above it. */
  readonly locate: (path: readonly PropertyKey[], part: 'key' | 'value') => Span;
}

/** A limit against "billion laughs" attacks. */
const MAX_ALIAS_COUNT = 100;

/**
 * Parses YAML 1.2 with merge keys, and replaces `${NAME}` with environment variables unless `env` is null. Returns all mistakes, some of them
 * more than once. Never throws.
 */
export function readYaml(text: string, env: Readonly<Record<string, string | undefined>> | null): YamlText {
  const doc = parseDocument(text, { merge: true, stringKeys: true, prettyErrors: false, logLevel: 'error' });
  const mistakes = [...doc.errors, ...doc.warnings].map((error) => describeYamlError(error, doc, text));
  const locate: YamlText['locate'] = (path, part) => locateInDocument(doc, text, path, part);
  if (doc.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return { data: undefined, mistakes, locate };
  visit(doc, {
    Alias: (_, alias) => {
      if (alias.resolve(doc)) return;
      const message = `there is no anchor &${alias.source} before this alias`;
      mistakes.push({ ...(findSpan(alias) ?? { start: 0, end: 1 }), message });
    },
    Scalar: (key, scalar) => {
      if (env && key !== 'key') mistakes.push(...expandVariables(scalar, env, text));
    },
  });
  try {
    return { data: doc.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) as unknown, mistakes, locate };
  } catch (error) {
    // The visitor has reported aliases without an anchor. This error is about a merge key or multiplying aliases.
    const start = Math.max(0, text.indexOf('<<'));
    if (mistakes.length === 0) mistakes.push({ start, end: start + 1, message: (error as Error).message });
    return { data: undefined, mistakes, locate };
  }
}

const yamlErrors: Partial<Record<YAMLError['code'], string>> = {
  MULTIPLE_DOCS: 'the file must contain a single document',
  TAB_AS_INDENT: 'lines must be indented with spaces, not tabs',
  NON_STRING_KEY: 'a key must be a string',
};

function describeYamlError(
  { code, message, pos: [start, end] }: YAMLError,
  doc: Document.Parsed,
  text: string,
): Diagnostic {
  if (code === 'RESOURCE_EXHAUSTION') return { start: 0, end: 1, message: 'the file is nested too deeply' };
  if (code === 'DUPLICATE_KEY') {
    const [key = ''] = /^[^\s:,{}]+/.exec(text.slice(start)) ?? [];
    return { start, end: start + key.length, message: `duplicate key ${key}` };
  }
  const quote = code === 'MISSING_CHAR' && message.endsWith('quote') ? findOpeningQuote(doc, start) : null;
  if (quote !== null) return { start: quote, end: quote + 1, message: 'this quote is never closed' };
  return { start, end, message: yamlErrors[code] ?? `this is not valid YAML: ${message}` };
}

/** Returns the position of the opening quote, since the parser reports an unclosed one only at the end of the file. */
function findOpeningQuote(doc: Document.Parsed, reportedAt: number): number | null {
  let position: number | null = null;
  visit(doc, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE_') && range && range[0] < reportedAt) position = range[0];
    },
  });
  return position;
}

/** Matches `${NAME}`, the escaped `$${`, and any other use of `${`. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/** Replaces `${NAME}` in a value with the environment variable, and `$${` with `${`. Does not expand inserted values. Returns the mistakes. */
function expandVariables(
  scalar: Scalar,
  env: Readonly<Record<string, string | undefined>>,
  text: string,
): Diagnostic[] {
  if (typeof scalar.value !== 'string') return [];
  const mistakes: Diagnostic[] = [];
  const scalarSpan = findSpan(scalar) ?? { start: 0, end: 1 };
  let from = scalarSpan.start;
  const addMistake = (match: string, message: string) => {
    const start = text.indexOf(match, from);
    const end = start + match.length;
    // If these characters are escaped in the source, the whole string is marked.
    const isLiteral = start !== -1 && end <= scalarSpan.end;
    if (isLiteral) from = end;
    mistakes.push({ ...(isLiteral ? { start, end } : scalarSpan), message });
    return match;
  };
  scalar.value = scalar.value.replace(VARIABLE, (match: string, name?: string) => {
    if (match === '$${') return '${';
    if (name === undefined) return addMistake(match, 'only ${NAME} is replaced; write $${ for a literal ${');
    return env[name] ?? addMistake(match, `the environment variable ${name} is not set`);
  });
  return mistakes;
}

function locateInDocument(
  doc: Document.Parsed,
  text: string,
  path: readonly PropertyKey[],
  part: 'key' | 'value',
): Span {
  let [key, value]: [key: unknown, value: unknown] = [doc.contents, doc.contents];
  for (const step of path) {
    const pair = readPart(doc, value, step);
    if (!pair) return findSpan(key) ?? { start: 0, end: text.length };
    ({ key, value } = pair);
    if (!findSpan(value)) break;
  }
  const [keySpan = { start: 0, end: text.length }, valueSpan] = [findSpan(key), findSpan(value)];
  if (part === 'key' || !valueSpan || valueSpan.start === valueSpan.end) return keySpan;
  // A mapping or list below its key is marked at the key, not at its first line.
  const isBelow = findLineStart(text, valueSpan.start) !== findLineStart(text, keySpan.start);
  return isCollection(value) && isBelow ? keySpan : valueSpan;
}

/** Returns an entry of a mapping, which may come from an alias or a merge, or an item of a list. */
function readPart(
  doc: Document.Parsed,
  node: unknown,
  step: PropertyKey,
): Pick<Pair, 'key' | 'value'> | undefined {
  const resolvedNode = isAlias(node) ? node.resolve(doc) : node;
  if (isSeq(resolvedNode)) {
    const item = resolvedNode.items[Number(step)];
    return item === undefined ? undefined : { key: item, value: item };
  }
  if (!isMap(resolvedNode)) return undefined;
  const findPair = (name: string) =>
    resolvedNode.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  const ownPair = findPair(String(step));
  const merged: unknown = findPair('<<')?.value;
  if (ownPair || merged === undefined) return ownPair;
  if (!isSeq(merged)) return readPart(doc, merged, step);
  return merged.items.map((source) => readPart(doc, source, step)).find((pair) => pair !== undefined);
}

function findSpan(node: unknown): Span | undefined {
  const range = (node as Node | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : undefined;
}
