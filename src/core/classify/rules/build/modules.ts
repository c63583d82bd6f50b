import { rulesFor } from '../../rule.js';

/** What Node, and other languages' loaders, say of modules that they cannot find or link. */
export const moduleRules = rulesFor('build-error', [
  {
    id: 'build/module-not-found',
    words: [
      'cannot find module',
      'cannot find package',
      'module_not_found',
      'no module named',
      'cannot find native binding',
      'err_load_url',
      'no such built-in module',
      'require stack',
    ],
    pattern:
      /Cannot find (?:module|package) ["'`]|Cannot find module |\b(?:ERR_)?MODULE_NOT_FOUND\b|No module named |Cannot find native binding|\bERR_LOAD_URL\b|No such built-in module|Require stack:/i,
    confidence: 0.95,
  },
  {
    id: 'build/package-exports',
    words: [
      'err_unsupported_dir_import',
      'err_package_path_not_exported',
      'is not defined by "exports"',
      'err_package_import',
      'err_invalid_package',
      'no "exports" main',
      'no known conditions',
      'directory import',
    ],
    pattern:
      /ERR_PACKAGE_(?:PATH_NOT_EXPORTED|IMPORT_NOT_DEFINED)|is not defined by "exports"|ERR_INVALID_PACKAGE_\w+|No "exports" main|No known conditions for|ERR_UNSUPPORTED_DIR_IMPORT|Directory import '/i,
    confidence: 0.95,
  },
  {
    id: 'build/esm-cjs',
    words: [
      "unexpected token 'export",
      "unexpected token 'import",
      'must use import to load',
      'is a commonjs module',
      'require() of es',
      'err_require_',
      'import statement outside a module',
      'import outside a module',
      'in es module scope',
      'import attribute',
      'err_import_a',
      'err_unknown_file_extension',
      'unknown file extension',
      'err_invalid_module_specifier',
      'err_ambiguous_module',
      'top-level await',
      'from an esmodule',
      "unexpected token 'export'",
      "unexpected token 'import'",
      'unexpected token import',
      'unexpected token export',
      "cannot use 'import.meta'",
    ],
    pattern:
      /Must use import to load ES Module|is a CommonJS module, which may not support|require\(\) of ES ?[Mm]odule|ERR_REQUIRE_(?:ESM|CYCLE_MODULE|ASYNC_MODULE)|Cannot use (?:import statement|'import\.meta') outside a module|is not defined in ES module scope|import attribute (?:of )?["']type|ERR_IMPORT_A(?:TTRIBUTE|SSERTION)\w*|[Uu]nknown file extension|ERR_UNKNOWN_FILE_EXTENSION|ERR_INVALID_MODULE_SPECIFIER|ERR_AMBIGUOUS_MODULE_SYNTAX|Top-level await is|Cannot import a typescript file from an esmodule|Unexpected token '?(?:export|import)\b/i,
    confidence: 0.94,
  },
  {
    id: 'build/missing-named-export',
    words: [
      'does not provide an export named',
      'named export',
      'ambiguous indirect export',
      "doesn't provide an export named",
      'importing binding name',
    ],
    pattern:
      /(?:does not|doesn't) provide an export named|Named export '[^'\n]{1,100}' not found|ambiguous indirect export|Importing binding name '[^'\n]{1,100}' (?:is not found|cannot be resolved)/i,
    confidence: 0.95,
  },
  {
    id: 'build/native-module',
    words: [
      'node_module_version',
      'different node.js version',
      'err_dlopen_failed',
      'for another platform',
      'does not match binary version',
      'invalid elf header',
    ],
    pattern:
      /NODE_MODULE_VERSION|different Node\.js version|ERR_DLOPEN_FAILED|installed esbuild for another platform|Host version ".{1,30}" does not match binary version|invalid ELF header/i,
    confidence: 0.85,
  },
  {
    id: 'build/dependencies',
    words: ['missing script', 'eresolve', 'outdated_lockfile', 'frozen-lockfile', 'type definition file'],
    pattern: /Missing script: |\bERESOLVE\b|ERR_PNPM_OUTDATED_LOCKFILE|Cannot find type definition file for/i,
    confidence: 0.78,
  },
  {
    id: 'build/other-compilers',
    words: [
      'error cs',
      'cannot find symbol',
      'compilation error',
      'build failure',
      'error[e',
      'failed to solve',
      'execution failed for task',
      'parsing error:',
    ],
    pattern:
      /\berror CS\d{4}:|error: cannot find symbol|COMPILATION ERROR|BUILD FAILURE|\berror\[E\d{4}\]|failed to solve: |Execution failed for task ':\S{0,80}compile|\bParsing error: /i,
    confidence: 0.85,
  },
  {
    id: 'build/python-import',
    words: ['importerror:', 'cannot load such file'],
    pattern: /\bImportError: |cannot load such file -- /i,
    confidence: 0.85,
  },
]);
