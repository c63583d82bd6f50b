import type { Settings } from '../core/settings.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { decodeUtf8 } from './decode.js';
import { renderDiagnostics, type Diagnostic, type SourceText } from './diagnostic.js';
import { parseAgentsFile } from './parse-agents-file.js';
import { projectName } from './project-name.js';
import { readAgentsFile } from './read-agents-file.js';
import { resolveSettings } from './resolve-settings.js';

/** What the settings of a run depend on. */
export interface SettingsRequest {
  /** The project's root, in which agents.yaml (or agents.yml) is looked for. */
  readonly cwd: string;
  /** A file that somebody named; it must be there. */
  readonly file?: string;
  /** Where `${VAR}` is taken from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What to call the project instead of the name in its package.json. */
  readonly packageName?: string;
}

/** Loads agents.yaml, or the built-in defaults where there is none; its mistakes are one `config-invalid` Problem (CF-3). */
export async function loadSettings(request: SettingsRequest): Promise<Result<Settings, Problem>> {
  const found = await readAgentsFile(request.cwd, request.file);
  if (!found.ok) return found;
  const project = request.packageName ?? (await projectName(request.cwd));
  if (!found.value) return ok(resolveSettings({ file: {}, project, filePath: null }));
  const { path, name, bytes } = found.value;
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) return err(invalid({ name, text: decoded.error.text }, [decoded.error.diagnostic]));
  const parsed = parseAgentsFile(decoded.value, request.env);
  if (!parsed.ok) return err(invalid({ name, text: decoded.value }, parsed.error));
  return ok(resolveSettings({ file: parsed.value, project, filePath: path }));
}

function invalid(source: SourceText, diagnostics: readonly Diagnostic[]): Problem {
  const count = diagnostics.length;
  return {
    kind: 'config-invalid',
    message: `${source.name} has ${count === 1 ? '1 mistake' : `${count} mistakes`}`,
    detail: renderDiagnostics(source, diagnostics),
    remedy: `Correct ${source.name}; nothing was run.`,
  };
}
