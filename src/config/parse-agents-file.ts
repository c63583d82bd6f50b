import { isMap, isScalar, type Node } from 'yaml';
import { err, ok, type Result } from '../result.js';
import { checkReferences } from './check-references.js';
import { describeIssues } from './check-shape.js';
import type { Diagnostic } from './diagnostic.js';
import { locate, sectionEnd } from './locate.js';
import type { Mistake } from './mistake.js';
import { readYaml, type YamlText } from './read-yaml.js';
import { agentsFileSchema, type AgentsFile } from './schema.js';

/** Reads the text of an agents.yaml; all its mistakes come at once (CF-3). */
export function parseAgentsFile(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Result<AgentsFile, readonly Diagnostic[]> {
  const yaml = readYaml(text, env);
  if (yaml.data === undefined) return err(yaml.diagnostics);
  // An empty file, or one of comments alone, says nothing, and so the defaults hold.
  const data = yaml.data ?? {};
  const checked = agentsFileSchema.safeParse(data);
  const mistakes = [
    ...protoKeys(yaml.contents),
    ...describeIssues(checked.error?.issues ?? [], data),
    ...(yaml.soundUntil === Number.POSITIVE_INFINITY ? checkReferences(data) : []),
  ];
  const diagnostics = [...yaml.diagnostics, ...diagnose(mistakes, text, yaml)];
  return checked.success && diagnostics.length === 0 ? ok(checked.data) : err(diagnostics);
}

function diagnose(mistakes: readonly Mistake[], text: string, yaml: YamlText): Diagnostic[] {
  const { contents: root, diagnostics: before, soundUntil } = yaml;
  const certain = mistakes.filter(
    ({ path, absent }) =>
      soundUntil === Number.POSITIVE_INFINITY || (!absent && sectionEnd(root, path) <= soundUntil),
  );
  const found = certain.map(({ path, part, message }) => ({
    ...locate({ root, text }, path, part),
    message,
  }));
  // What is said of a value that could not be read is a consequence, not a mistake.
  const own = found.filter((one) => !before.some(({ start }) => start >= one.start && start < one.end));
  // What an alias repeats is wrong once.
  return [...new Map(own.map((one) => [`${one.start} ${one.message}`, one])).values()];
}

/** Zod passes over this key in silence, since it is no own key in most objects. */
function protoKeys(node: Node | null, path: readonly string[] = []): Mistake[] {
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) => {
    const here = [...path, isScalar(key) ? String(key.value) : ''];
    const below = protoKeys(value as Node | null, here);
    if (here.at(-1) !== '__proto__') return below;
    return [
      { path: here, part: 'key' as const, absent: false, message: 'unknown key "__proto__"' },
      ...below,
    ];
  });
}
