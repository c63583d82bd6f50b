import { certain, likely, weak } from '../../model/diagnosis.js';
import { createRules } from '../rule.js';

/** Compiling, bundling, transforming or linking failed (CS-1). */
export const buildRules = createRules('build-error', {
  'build/typescript': [
    certain,
    /\berror TS\d{3,5}\b|\bTS[124-9]\d{3,4}\b\)?:|\bis not assignable to (?:type|parameter of type) |Property '[^'\n]{1,100}' does not exist on type|Cannot find name '|has no exported member|or its corresponding type declarations|is possibly '(?:null|undefined)'|^\s{0,20}(?:\S{1,200}\s+)?Type error: /im,
  ],
  'build/unresolved-import': [
    certain,
    /Failed to resolve (?:import|entry for package|'[^'\n]{1,200}' from|"[^"\n]{1,200}"|module specifier)|\[UNRESOLVED_IMPORT\]|(?:Could not|Cannot) resolve entry module|Could not resolve:? ["']|Failed to load url |Could not load \S{1,200} \(imported by|Does the file exist\?|Module not found: |Can't resolve '|Unable to resolve (?:path to )?(?:module|\[)|Could not import ["'`]/i,
    { unless: /could not resolve:? ["'](?:https?:|localhost|\d+\.)/i },
  ],
  'build/missing-export': [
    certain,
    /\[MISSING_EXPORT\]|is not exported (?:by|from) |No matching export in ["']|Attempted import error:|export '[^'\n]{1,80}'.{0,80} was not found in '|(?:does not|doesn't) provide an export named|Named export '[^'\n]{1,100}' not found|Importing binding name '|Export named ["'][^"'\n]{1,100}["'] not found/i,
  ],
  'build/module-not-found': [
    certain,
    /Cannot find (?:module|package) |\b(?:ERR_)?MODULE_NOT_FOUND\b|No module named |\bImportError: |\bERR_LOAD_URL\b|ERR_PACKAGE_PATH_NOT_EXPORTED|is not defined by "exports"|ERR_UNSUPPORTED_DIR_IMPORT|Require stack:/i,
  ],
  'build/module-format': [
    certain,
    /Must use import to load ES Module|is a CommonJS module, which may not support|require\(\) of ES ?Module|ERR_REQUIRE_ESM|Cannot use (?:import statement|'import\.meta') outside a module|is not defined in ES module scope|import attribute (?:of )?["']type|ERR_IMPORT_A(?:TTRIBUTE|SSERTION)|Unknown file extension|ERR_INVALID_MODULE_SPECIFIER|Cannot import a typescript file from an esmodule|Unexpected token '?(?:export|import)\b/i,
  ],
  'build/syntax-at-position': [
    certain,
    /SyntaxError: .{0,300}\(\d+:\d+\)|(?:Unexpected token|Missing semicolon)[^\n(]{0,60}\(\d+:\d+\)|^\s{0,20}[×x]?\s{0,9}Syntax Error(?:\s{0,9}$|: \w)|Adjacent JSX elements|Expected corresponding (?:JSX )?closing tag|Support for the experimental syntax|\bERROR: (?:Expected|Unexpected|Unterminated|Syntax)|Expected ["'][^"'\n]{1,20}["'] but found ["']|Unterminated (?:string constant|template|regexp)|(?:^|(?<!\d)\s)[×x] (?:Expected|Unexpected|Unterminated) |\bPHP Parse error: |(?<=^[ \t]{1,20}File "[^"\n]{1,300}", line \d{1,7}\n(?:[ \t][^\n]{0,600}\n){0,4})(?:Syntax|Indentation|Tab)Error: /im,
    { unless: /JSON/ },
  ],
  'build/bundler': [
    certain,
    /\[plugin:? ?[\w@/:. -]{1,60}\]|\[vite:[\w-]{1,40}\]|\[vite\] Internal server error|Pre-transform error:|\(plugin [\w@/:. -]{1,60}\)|\bRollup ?Error\b|Module (?:build|parse) failed|^\s{0,20}ERROR in \.{1,2}\/|Failed to compile|HookWebpackError|[✘✗X] \[ERROR\] (?!Uncaught|\w*(?:Error|Exception)\b)|This build is using Turbopack|You're importing a component that needs|\[@?vue\/compiler-sfc\]|\bCompiler?Error\b|\berror NG\d|\bNG[1-9]\d{3}:|Failed to parse source for import analysis|No loader is configured for/im,
    { unless: /http proxy error|ws proxy|\bwarn(?:ing)?\b|source ?map/i },
  ],
  'build/vite-transform': [
    certain,
    // Vite's message for an exception in a plugin that transforms a module, in any development server based on Vite.
    // https://github.com/vitejs/vite/blob/v8.0.0/packages/vite/src/node/server/middlewares/error.ts
    /^\[vite\] [^\n]{1,900}(?:\n(?!\[vite\])[^\n]{0,400}){0,12}?\n[ \t]{1,8}Plugin: \S/m,
    { in: ['server'] },
  ],
  'build/styles': [
    certain,
    /\[postcss\]|\bCssSyntaxError\b|(?:as|is not) a PostCSS plugin|Failed to load PostCSS config|Unknown at[- ]rule @|\bSassError\b|Can't find stylesheet to import|Cannot apply unknown utility class|class does not exist\. If |Error: Undefined (?:variable|mixin)/i,
  ],
  'build/overlay': [
    certain,
    // An error overlay, or its text.
    /<(?:vite-error-overlay|webpack-dev-server-client-overlay)>|\bdialog "(?:Build Error|Failed to compile)|\[plugin:vite[:\w-]{1,60}\] \S/,
    { in: ['error', 'page'] },
  ],
  'build/compiled-language': [
    certain,
    // Go: `./main.go:12:5: undefined: x`; C compilers and javac: `Cart.java:12: error: …`; rustc: `error[E0425]: …`, and the place below.
    /^(?:vet: )?[\w.@+/-]{1,300}\.go:\d{1,7}:\d{1,7}: \S|^(?!https?:)\S{1,300}\.\w{1,6}(?::\d{1,7}){1,2}: (?:fatal )?error: (?![^\n]{0,100}(?:connect|refused|timed? ?out))|^error(?:\[E\d{4}\])?: [^\n]{1,400}\n {1,8}--> \S/m,
    { in: ['error', 'server'] },
  ],
  'build/thrown-by-compiler': [
    certain,
    // Any message above frames in a compiler for modules, components or styles.
    /^(?![ \t]{0,20}at )[^\n]{1,400}\n(?:[ \t]{0,20}\n)?[ \t]{1,20}at (?:async )?(?:(?:Plugin(?:Context|Container)|Transform(?:Plugin)?Context|NormalModule|LazyResult|Compilation)\b|[^\n]{0,300}node_modules[\\/](?:@babel[\\/](?:parser|core)|@vue[\\/]compiler-|@astrojs[\\/]compiler|svelte[\\/](?:src[\\/])?compiler|sass|less|postcss)[\w\\/-]|[^\n]{0,300}playwright[\w@.-]{0,20}[\\/]lib[\\/]transform[\\/])/m,
  ],
  'build/syntax': [
    likely,
    /SyntaxError: (?:(?:Invalid or )?unexpected|missing|unterminated|Invalid (?:left|shorthand|destructuring)|Illegal|Identifier '|Expected|await is only|Duplicate|Cannot use|import |export |Private field)|^\s{0,20}(?:\S{1,200}: )?(?:(?:Invalid or unexpected|Unexpected) token\b|Unexpected (?:identifier|reserved word)|Identifier '[^'\n]{1,80}' has already been declared|missing \) after argument list|await is only valid in)/im,
    {
      unless:
        /JSON|at position \d|DOMException|selector|Unexpected end of input|in pattern|regular expression: \/|DOCTYPE/i,
    },
  ],
  'build/stale-chunk': [
    likely,
    /Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed|\bChunkLoadError\b|Loading (?:CSS )?chunk \S{1,80} failed|Failed to load module script|Unable to preload CSS|Refused to execute script from .{1,300} MIME type|in the 'integrity' attribute/i,
  ],
  'build/script': [
    likely,
    // A development server answers 500 for a module that it cannot transform. Missing files count if only a build or a development server
    // can produce them: a source, a hashed name, a file in an output folder.
    /^(?:script|stylesheet) GET \S+ → 5\d\d(?! with JSON)|^(?:script|stylesheet) GET (?:\S+\.(?:[cm]?tsx?|jsx|vue|svelte)|\S*\/(?:dist|build|out|_next|_nuxt|_app|\.vite|chunks?)\/\S+\.(?:m?js|css)|\S+[.-](?=[\w-]*\d)[\w-]{8,}\.(?:m?js|css))(?:\?\S*)? → (?:404|2\d\d with text\/html)|\bGET \S{1,300}\.(?:m?js|css)(?:\?\S{0,200})? (?:net::ERR_ABORTED )?404\b/m,
    { in: ['error', 'console', 'network'] },
  ],
  'build/output-missing': [
    likely,
    /ENOENT: .{0,200}['"\\/](?:\.next|\.nuxt|\.output|\.svelte-kit|\.vite|dist|build)['"\\/]|Could not find a production build in the|\b(?:Vite|Mix|Webpack|Asset|Build) manifest\b.{0,120}(?:not found|not exist|missing)/i,
    { in: ['error', 'server'] },
  ],
  'build/installation': [
    likely,
    /NODE_MODULE_VERSION|ERR_DLOPEN_FAILED|installed esbuild for another platform|Missing script: |\bERESOLVE\b|ERR_PNPM_OUTDATED_LOCKFILE|lockfile (?:would have been modified|needs to be updated)|in sync\. Please update your lock file|missing go\.sum entry|Could not find (?:gem|package|crate|artifact|dependency)\b|\bBundler::\w+|No matching (?:distribution|version) found|Could not find a version that satisfies|no required module provides package|Your requirements could not be resolved|vendor\/autoload\.php/i,
  ],
  'build/command-missing': [
    likely,
    /^(?:\/\S{0,40}\/)?\w{0,4}sh: (?:line )?(?:\d{1,6}: )?[\w.@/-]{1,200}: (?:command )?not found$|\b(?:tsc|vite|next|nuxt|webpack|rollup|esbuild|react-scripts|astro|turbo|ng|tsx|ts-node)['"»]?:? (?:command )?(?:not found|is not recognized)/m,
  ],
  'build/failed': [
    likely,
    /Build failed in \d|(?:Transform|Build) failed with \d+ errors?|error during build:|compil(?:ation|e) failed|failed to (?:transform|transpile|minify|bundle|compile|build)\b|Transform error|bundling failed|bundle failed|COMPILATION ERROR|\bFound [1-9]\d{0,5} errors?(?: in |\. Watching|\.$)|Failed to type check/im,
    { unless: /warn/i },
  ],
  'build/web-server-exited': [
    weak,
    // A server that ends before it listens has a broken build, unless its own output gives another reason.
    /Process from config\.webServer (?:was not able to start|exited early)/i,
  ],
});
