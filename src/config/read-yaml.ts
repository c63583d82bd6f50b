import { Document, Parser, parseDocument } from 'yaml';
import { checkNodes } from './check-nodes.js';
import { lineStartOf, type Diagnostic } from './diagnostic.js';
import { describeYamlErrors } from './describe-yaml-errors.js';
import { yamlDepth } from './yaml-depth.js';

/** The parser recurses: hundreds of nested keys take it minutes, and thousands of levels exhaust the stack, and Node with it. */
const MAX_DEPTH = 64;

/** How often aliases may repeat what they stand for, all in all; the defence against "a billion laughs". */
const MAX_ALIAS_COUNT = 100;

/** A YAML text, read as far as it can be. */
export interface YamlText {
  readonly doc: Document;
  /** The plain value, aliases and `${VAR}` replaced; undefined where there is none to check. */
  readonly data: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** Where the first syntax error makes what follows doubtful; infinite without one. */
  readonly soundUntil: number;
}

/** Reads YAML 1.2 with merge keys. Whatever the text, mistakes are handed back and nothing is thrown. */
export function readYaml(text: string, env: Readonly<Record<string, string | undefined>>): YamlText {
  const tokens = [...new Parser().parse(text)];
  if (yamlDepth(tokens) > MAX_DEPTH)
    return unusable([{ start: 0, end: 1, message: `this nests deeper than ${MAX_DEPTH} levels` }]);
  const doc = parseDocument(text, {
    prettyErrors: false,
    merge: true,
    stringKeys: true,
    // `checkNodes` says where the key was first.
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
    // `checkNodes` has taken out every alias that cannot be resolved, so this one is about their number.
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
