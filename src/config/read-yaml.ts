import { type CST, type Document, parseDocument, Parser, visit, type YAMLError } from 'yaml';
import { type Diagnostic, lineStartOf, ontoVisibleLine } from './diagnostic.js';
import { MAX_ALIAS_COUNT, NodeReader, type Variables } from './read-nodes.js';

/** The parser recurses: hundreds of nested keys take minutes, and thousands overflow the stack, which crashes Node. */
const MAX_DEPTH = 64;

/** A YAML text, parsed as far as possible. */
export interface YamlText {
  /** The plain value with aliases and `${VAR}` replaced; undefined if there is nothing to check. */
  readonly data: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** The offset from which a syntax error makes the data unreliable; infinite without one. */
  readonly soundUntil: number;
  readonly places: Pick<NodeReader, 'locate' | 'sectionEnd'>;
}

/** Parses YAML 1.2 with merge keys. Returns all mistakes, some of them repeatedly, and never throws, whatever the text. */
export function readYaml(text: string, env: Variables): YamlText {
  const isTooDeep = yamlDepth([...new Parser().parse(text)]) > MAX_DEPTH;
  const doc = parseDocument(isTooDeep ? '' : text, {
    prettyErrors: false,
    stringKeys: true,
    // `NodeReader` reports these, with the line of the first key.
    uniqueKeys: false,
    logLevel: 'error',
  });
  const places = new NodeReader(doc, text, env);
  const syntax = doc.errors.map((error) => describeYamlError(error, doc, text));
  const warnings = doc.warnings.map((warning) => describeYamlError(warning, doc, text));
  const limits = [
    isTooDeep ? `the file is nested deeper than ${MAX_DEPTH} levels` : '',
    places.aliases > MAX_ALIAS_COUNT
      ? `aliases repeat parts of this file more than ${MAX_ALIAS_COUNT} times`
      : '',
  ].filter((message) => message !== '');
  return {
    data: limits.length > 0 ? undefined : places.data,
    diagnostics: [
      ...syntax,
      ...warnings,
      ...places.mistakes,
      ...limits.map((message) => ({ start: 0, end: 1, message })),
    ],
    soundUntil: Math.min(...syntax.map(({ start }) => lineStartOf(text, start))),
    places,
  };
}

/** Describes where and why a text is not valid YAML. */
function describeYamlError(
  { code, message, pos }: YAMLError,
  doc: Document.Parsed,
  text: string,
): Diagnostic {
  const [start, end] = [Math.max(0, pos[0]), Math.max(pos[1], pos[0] + 1)];
  if (code === 'MULTIPLE_DOCS')
    return { start, end: start + 3, message: 'the file must contain a single document' };
  if (code === 'TAB_AS_INDENT')
    return { start, end, message: 'lines must be indented with spaces, not tabs' };
  if (code === 'NON_STRING_KEY') return { start, end, message: 'a key must be a string' };
  const quote = code === 'MISSING_CHAR' && message.endsWith('quote') ? openingQuote(doc, start) : null;
  if (quote !== null) return { start: quote, end: quote + 1, message: 'this quote is never closed' };
  return { ...ontoVisibleLine(text, { start, end }), message: `this is not valid YAML: ${message}` };
}

/** Finds the opening quote, since the parser reports an unclosed one only at the end of the file. */
function openingQuote(doc: Document.Parsed, noticedAt: number): number | null {
  let opened: number | null = null;
  visit(doc, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE_') && range && range[0] < noticedAt) opened = range[0];
    },
  });
  return opened;
}

/** Returns how deeply collections are nested. Not recursive, so that no text can overflow the stack. */
function yamlDepth(tokens: readonly CST.Token[]): number {
  const open: [token: CST.Token, depth: number][] = tokens.map((token) => [token, 0]);
  let deepest = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [token, depth] = next;
    deepest = Math.max(deepest, depth);
    for (const child of childrenOf(token)) open.push([child, depth + 1]);
  }
  return deepest;
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value ? [token.value] : [];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) =>
    [key, value].filter((child) => child !== null && child !== undefined),
  );
}
