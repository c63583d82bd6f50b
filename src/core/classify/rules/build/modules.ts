import { rulesFor } from '../../rule.js';

/** Messages of Node, and of other languages' loaders, about modules that they cannot find or link. */
export const moduleRules = rulesFor('build-error', [
  {
    id: 'build/module-not-found',
    pattern:
      /(?:Cannot find (?:module|package)|Could not import) ["'`]|Cannot find module |\b(?:ERR_)?MODULE_NOT_FOUND\b|No module named |Cannot find native binding|\bERR_LOAD_URL\b|No such built-in module|Require stack:/i,
    confidence: 0.95,
  },
  {
    id: 'build/package-exports',
    pattern:
      /ERR_PACKAGE_(?:PATH_NOT_EXPORTED|IMPORT_NOT_DEFINED)|is not defined by "exports"|ERR_INVALID_PACKAGE_\w+|No "exports" main|No known conditions for|ERR_UNSUPPORTED_DIR_IMPORT|Directory import '/i,
    confidence: 0.95,
  },
  {
    id: 'build/esm-cjs',
    pattern:
      /Must use import to load ES Module|is a CommonJS module, which may not support|require\(\) of ES ?[Mm]odule|ERR_REQUIRE_(?:ESM|CYCLE_MODULE|ASYNC_MODULE)|Cannot use (?:import statement|'import\.meta') outside a module|is not defined in ES module scope|import attribute (?:of )?["']type|ERR_IMPORT_A(?:TTRIBUTE|SSERTION)\w*|[Uu]nknown file extension|ERR_UNKNOWN_FILE_EXTENSION|ERR_INVALID_MODULE_SPECIFIER|ERR_AMBIGUOUS_MODULE_SYNTAX|Top-level await is|Cannot import a typescript file from an esmodule|Unexpected token '?(?:export|import)\b/i,
    confidence: 0.94,
  },
  {
    id: 'build/missing-named-export',
    pattern:
      /(?:does not|doesn't) provide an export named|Named export '[^'\n]{1,100}' not found|ambiguous indirect export|Importing binding name '[^'\n]{1,100}' (?:is not found|cannot be resolved)/i,
    confidence: 0.95,
  },
  {
    id: 'build/native-module',
    pattern:
      /NODE_MODULE_VERSION|different Node\.js version|ERR_DLOPEN_FAILED|installed esbuild for another platform|Host version ".{1,30}" does not match binary version|invalid ELF header/i,
    confidence: 0.85,
  },
  {
    id: 'build/dependencies',
    pattern:
      /Missing script: |^error (?:Command|Script) "[^"\n]{1,80}" not found|Script not found "|find a script named "|ERR_PNPM_NO_SCRIPT|\bERESOLVE\b|ERR_PNPM_OUTDATED_LOCKFILE|present in your lockfile|lockfile (?:would have been modified|needs to be updated|had changes)|in sync\. Please update your lock file|Cannot find type definition file for|missing go\.sum entry|^go: (?:inconsistent vendoring|updates to go\.mod needed)|error: (?:no matching package|failed to select a version)|Could not resolve dependencies for project/im,
    confidence: 0.78,
  },
  {
    id: 'build/compiled-language',
    // go: `./main.go:12:5: undefined: x`; javac, GHC and C compilers: `Cart.java:12: error: …`; Maven: `Cart.java:[12,5] …`; kotlinc: `e: file:///srv/Cart.kt:12:5 …`;
    // rustc: `error[E0425]: …`, and the place below.
    pattern:
      /^(?:vet: )?[\w.@+/-]{1,300}\.go:\d{1,7}:\d{1,7}: \S|^(?!https?:)\S{1,300}\.\w{1,6}(?::\d{1,7}){1,2}: (?:fatal )?error: (?![^\n]{0,100}(?:connect|refused|timed? ?out))|^\S{1,300}\.(?:java|kt|scala|groovy):\[\d{1,7},\d{1,7}\] |^e: \S{1,300}\.kts?:|^error(?:\[E\d{4}\])?: [^\n]{1,400}\n {1,8}--> \S/m,
    sources: ['error', 'server'],
    confidence: 0.9,
  },
  {
    id: 'build/other-compilers',
    pattern:
      /\berror CS\d{4}:|error: cannot find symbol|COMPILATION ERROR|BUILD FAILURE|\berror\[E\d{4}\]|failed to solve: |Execution failed for task ':\S{0,80}compile|\bParsing error: /i,
    confidence: 0.85,
  },
  {
    id: 'build/python-import',
    pattern: /\bImportError: |cannot load such file -- /i,
    confidence: 0.85,
  },
]);
