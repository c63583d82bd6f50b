import type TypeScript from 'typescript';
import { applyReplacements } from '../../replacements.js';
import type { ProposedFile } from './proposal.js';

type Ts = typeof TypeScript;

/** TypeScript's safe fixes: none of them casts, ignores, removes or invents a value, or replaces a name with a similar one. */
const allowedFixes = new Set([
  'import',
  'addMissingAwait',
  'fixAwaitInSyncFunction',
  'forgottenThisPropertyAccess',
  'fixImportNonExportedMember',
  'fixOverrideModifier',
  'extendsInterfaceBecomesImplements',
  'constructorForDerivedNeedSuperCall',
]);

const MAX_FILES = 3000;
const MAX_FIXES = 20;

/** A file with the fixes, and TypeScript's descriptions of them. */
export interface CodeFix extends ProposedFile {
  readonly summaries: readonly string[];
}

/**
 * Fixes the errors in these files with the project's own TypeScript (BF-3). Each error must have exactly one allowed fix, after which the whole
 * compilation has fewer errors and no new ones. Otherwise returns null.
 */
export function fixErrors(ts: Ts, files: readonly string[]): CodeFix[] | null {
  const config =
    files[0] === undefined ? undefined : ts.findConfigFile(files[0], (file) => ts.sys.fileExists(file));
  const program = config === undefined ? null : openProgram(ts, config);
  if (!program) return null;
  const { service, overlay, summaries } = program;
  for (let count = 0; count < MAX_FIXES; count += 1) {
    const errors = program.listErrors();
    const [error] = errors.filter(
      (diagnostic) => diagnostic.file !== undefined && files.includes(diagnostic.file.fileName),
    );
    if (!error?.file) return summaries.size > 0 ? listFixedFiles(ts, program) : null;
    const fix = findOnlyFix(service, error);
    const before = new Map(overlay);
    if (
      !fix ||
      !applyFix(program, fix) ||
      !hasFewerErrors(listErrorKeys(ts, errors), listErrorKeys(ts, program.listErrors()))
    )
      return null;
    for (const { fileName } of fix.changes) {
      if (overlay.get(fileName) === before.get(fileName)) continue;
      summaries.set(fileName, [...(summaries.get(fileName) ?? []), fix.description]);
    }
  }
  return null;
}

interface Program {
  readonly service: TypeScript.LanguageService;
  /** Texts that differ from the files on disk. */
  readonly overlay: Map<string, string>;
  readonly summaries: Map<string, string[]>;
  readText(file: string): string;
  listErrors(): TypeScript.Diagnostic[];
}

function openProgram(ts: Ts, config: string): Program | null {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const parsed = ts.getParsedCommandLineOfConfigFile(config, {}, host);
  if (!parsed || parsed.fileNames.length === 0 || parsed.fileNames.length > MAX_FILES) return null;
  const overlay = new Map<string, string>();
  const readText = (file: string) => overlay.get(file) ?? ts.sys.readFile(file) ?? '';
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({ ...parsed.options, noEmit: true, incremental: false, composite: false }),
    getScriptFileNames: () => parsed.fileNames,
    // The version must change with the text. Files on disk do not change meanwhile.
    getScriptVersion: (file) => overlay.get(file) ?? '',
    getScriptSnapshot: (file) =>
      ts.sys.fileExists(file) ? ts.ScriptSnapshot.fromString(readText(file)) : undefined,
    getCurrentDirectory: () => ts.sys.getCurrentDirectory(),
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (file) => ts.sys.fileExists(file),
    readFile: (file) => (ts.sys.fileExists(file) ? readText(file) : undefined),
    readDirectory: (...args) => ts.sys.readDirectory(...args),
    directoryExists: (folder) => ts.sys.directoryExists(folder),
    getDirectories: (folder) => ts.sys.getDirectories(folder),
    realpath: (file) => ts.sys.realpath?.(file) ?? file,
  });
  const listErrors = () =>
    parsed.fileNames.flatMap((file) =>
      [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].filter(
        ({ category }) => category === ts.DiagnosticCategory.Error,
      ),
    );
  return { service, overlay, summaries: new Map(), readText, listErrors };
}

/** Returns the fix for an error if exactly one allowed fix exists. */
function findOnlyFix(
  service: TypeScript.LanguageService,
  { file, start = 0, length = 0, code }: TypeScript.Diagnostic,
): TypeScript.CodeFixAction | null {
  if (!file) return null;
  const fixes = service
    .getCodeFixesAtPosition(file.fileName, start, start + length, [code], detectFormat(file.text), {})
    .filter(({ fixName, commands }) => allowedFixes.has(fixName) && !commands?.length);
  const [fix] = fixes;
  return fixes.length === 1 && fix ? fix : null;
}

function detectFormat(text: string): TypeScript.FormatCodeSettings {
  const indent = /^( +|\t)\S/m.exec(text)?.[1] ?? '  ';
  return {
    indentSize: indent.length,
    convertTabsToSpaces: indent !== '\t',
    newLineCharacter: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

function applyFix(program: Program, { changes }: TypeScript.CodeFixAction): boolean {
  for (const { fileName, textChanges, isNewFile } of changes) {
    if (isNewFile || /[\\/]node_modules[\\/]/.test(fileName)) return false;
    const replacements = textChanges.map(({ span: { start, length }, newText }) => ({
      start,
      end: start + length,
      text: newText,
    }));
    program.overlay.set(fileName, applyReplacements(program.readText(fileName), replacements));
  }
  return true;
}

function listErrorKeys(ts: Ts, errors: readonly TypeScript.Diagnostic[]): string[] {
  return errors.map(
    ({ file, code, messageText }) =>
      `${file?.fileName} ${code} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
}

/** True if some errors are gone and none is new. */
function hasFewerErrors(before: readonly string[], after: readonly string[]): boolean {
  const remaining = [...before];
  for (const key of after) {
    const at = remaining.indexOf(key);
    if (at < 0) return false;
    remaining.splice(at, 1);
  }
  return remaining.length > 0;
}

function listFixedFiles(ts: Ts, { overlay, summaries }: Program): CodeFix[] {
  return [...overlay].map(([file, after]) => ({
    file,
    before: ts.sys.readFile(file) ?? '',
    after,
    summaries: summaries.get(file) ?? [],
  }));
}
