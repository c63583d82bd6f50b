import { visit, type Document, type YAMLError } from 'yaml';
import { ontoVisibleLine, type Diagnostic } from './diagnostic.js';

/** Says where a text is not YAML, and why; what several nodes complain of alike is said once. */
export function describeYamlErrors(
  errors: readonly YAMLError[],
  doc: Document.Parsed,
  text: string,
): Diagnostic[] {
  // Unclosed brackets are reported once for each level.
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
    return { start, end, message: 'a line must be indented by spaces, not by tabs' };
  if (code === 'NON_STRING_KEY') return { start, end, message: 'a key must be a string' };
  const quote = code === 'MISSING_CHAR' && message.endsWith('quote') ? openingQuote(doc, start) : null;
  if (quote !== null) return { start: quote, end: quote + 1, message: 'this quote is never closed' };
  return { ...ontoVisibleLine(text, { start, end }), message: `this is not valid YAML: ${message}` };
}

/** The parser notices at the end of the file that a quote is open; what helps is where it was opened. */
function openingQuote(doc: Document.Parsed, noticedAt: number): number | null {
  let opened: number | null = null;
  visit(doc, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE_') && range && range[0] < noticedAt) opened = range[0];
    },
  });
  return opened;
}
