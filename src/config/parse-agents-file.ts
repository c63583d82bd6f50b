import { err, ok, type Result } from '../result.js';
import { checkReferences } from './check-references.js';
import { describeIssues } from './check-shape.js';
import type { Diagnostic } from './diagnostic.js';
import type { Mistake } from './mistake.js';
import { readYaml, type YamlText } from './read-yaml.js';
import { agentsFileSchema, type AgentsFile } from './schema.js';

/** Parses an agents.yaml and reports all its mistakes at once (CF-3). */
export function parseAgentsFile(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Result<AgentsFile, readonly Diagnostic[]> {
  const yaml = readYaml(text, env);
  if (yaml.data === undefined) return err(yaml.diagnostics);
  // An empty file, or one with only comments, sets nothing, so the defaults apply.
  const data = yaml.data ?? {};
  const checked = agentsFileSchema.safeParse(data);
  const mistakes = [
    ...describeIssues(checked.error?.issues ?? [], data),
    ...(yaml.soundUntil === Number.POSITIVE_INFINITY ? checkReferences(data) : []),
  ];
  const all = [...yaml.diagnostics, ...diagnose(mistakes, yaml)];
  // Unclosed brackets are reported once per level, and what aliases repeat once per alias.
  const diagnostics = [...new Map(all.map((one) => [`${one.start} ${one.message}`, one])).values()];
  return checked.success && diagnostics.length === 0 ? ok(data) : err(diagnostics);
}

function diagnose(
  mistakes: readonly Mistake[],
  { places, diagnostics: before, soundUntil }: YamlText,
): Diagnostic[] {
  const certain = mistakes.filter(
    ({ path, absent = false }) =>
      soundUntil === Number.POSITIVE_INFINITY || (!absent && places.sectionEnd(path) <= soundUntil),
  );
  const found = certain.map(({ path, part = 'value', message }) => ({
    ...places.locate(path, part),
    message,
  }));
  // Mistakes about a value that could not be parsed are only consequences.
  return found.filter((one) => !before.some(({ start }) => start >= one.start && start < one.end));
}
