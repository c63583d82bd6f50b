import { type CST, Document, parseDocument, Parser, visit, type YAMLError } from 'yaml';
import { checkNodes } from './check-nodes.js';
import { type Diagnostic, lineStartOf, ontoVisibleLine } from './diagnostic.js';

/** The parser recurses: hundreds of nested keys take minutes, and thousands overflow the stack, which crashes Node. */
const MAX_DEPTH = 64;

/** How often aliases may be expanded in total, against "billion laughs" attacks. */
const MAX_ALIAS_COUNT = 100;

/** A YAML text, parsed as far as possible. */
export interface YamlText {
  readonly doc: Document;
  /** The plain value with aliases and `${VAR}` replaced; undefined if there is nothing to check. */
  readonly data: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** The offset from which a syntax error makes the data unreliable; infinite without one. */
  readonly soundUntil: number;
}

/** Parses YAML 1.2 with merge keys. Returns all mistakes and never throws, whatever the text. */
export function readYaml(text: string, env: Readonly<Record<string, string | undefined>>): YamlText {
  const tokens = [...new Parser().parse(text)];
  if (yamlDepth(tokens) > MAX_DEPTH)
    return unusable([{ start: 0, end: 1, message: `the file is nested deeper than ${MAX_DEPTH} levels` }]);
  const doc = parseDocument(text, {
    prettyErrors: false,
    merge: true,
    stringKeys: true,
    // `checkNodes` reports these, with the line of the first key.
    uniqueKeys: false,
    logLevel: 'error',
  });
  const syntax = describeYamlErrors(doc.errors, doc, text);
  const nodes = checkNodes(doc, text, env);
  const diagnostics = [...syntax, ...describeYamlErrors(doc.warnings, doc, text), ...nodes];
  const soundUntil = Math.min(...syntax.map(({ start }) => lineStartOf(text, start)));
  const data = toPlain(doc);
  if (!data.ok) return unusable([...diagnostics, data.bomb]);
  return { doc, data: data.value, diagnostics, soundUntil };
}

function unusable(diagnostics: readonly Diagnostic[]): YamlText {
  return { doc: new Document(), data: undefined, diagnostics, soundUntil: Number.POSITIVE_INFINITY };
}

type Plain =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly bomb: Diagnostic };

function toPlain(doc: Document.Parsed): Plain {
  try {
    return { ok: true, value: doc.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) };
  } catch (error) {
    // `checkNodes` has removed every alias that cannot be resolved, so this error is about their number.
    if (!(error instanceof ReferenceError)) throw error;
    const start = doc.contents?.range[0] ?? 0;
    return {
      ok: false,
      bomb: {
        start,
        end: start + 1,
        message: `aliases repeat parts of this file more than ${MAX_ALIAS_COUNT} times`,
      },
    };
  }
}

/** Describes where and why a text is not valid YAML. Identical mistakes are reported once. */
function describeYamlErrors(errors: readonly YAMLError[], doc: Document.Parsed, text: string): Diagnostic[] {
  // The parser reports unclosed brackets once per level.
  const byPlace = errors.map((error) => {
    const one = describeYamlError(error, doc, text);
    return [`${one.start} ${one.message}`, one] as const;
  });
  return [...new Map(byPlace).values()];
}

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
