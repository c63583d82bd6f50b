import { type Document, parseDocument, visit, type YAMLError } from 'yaml';
import { type Diagnostic, lineStartOf, ontoVisibleLine } from './diagnostic.js';
import { NodeReader, type Variables } from './read-nodes.js';

/** A YAML text, parsed as far as possible. */
export interface YamlText {
  /** The plain value with `${VAR}` replaced. */
  readonly data: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** The offset from which a syntax error makes the data unreliable; infinite without one. */
  readonly soundUntil: number;
  readonly places: Pick<NodeReader, 'locate' | 'sectionEnd'>;
}

/** Parses YAML 1.2 without aliases. Returns all mistakes, some of them repeatedly. */
export function readYaml(text: string, env: Variables): YamlText {
  const doc = parseDocument(text, { prettyErrors: false, stringKeys: true, logLevel: 'error' });
  const places = new NodeReader(doc, text, env);
  const syntax = doc.errors.map((error) => describeYamlError(error, doc, text));
  const warnings = doc.warnings.map((warning) => describeYamlError(warning, doc, text));
  return {
    data: places.data,
    diagnostics: [...syntax, ...warnings, ...places.mistakes],
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
  if (code === 'DUPLICATE_KEY') return { start, end, message: 'this key is already used above' };
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
