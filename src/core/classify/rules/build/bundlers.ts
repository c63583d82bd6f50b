import { rulesFor } from '../../rule.js';

/** Messages of vite, rollup, esbuild, webpack, turbopack, Next and the compilers of component files. */
export const bundlerRules = rulesFor('build-error', [
  {
    id: 'build/vite-plugin',
    pattern:
      /\[plugin:? ?[\w@/:. -]{1,60}\]|\[vite:[\w-]{1,40}\]|\[vite\] Internal server error|\[vite-plugin-[\w-]{1,40}\].{0,40}(?:error|fail)|Rollup failed to resolve import|Pre-transform error:|\(plugin [\w@/:. -]{1,60}\)/i,
    unless: /http proxy error|ws proxy|\bwarn(?:ing)?\b|source ?map/i,
    confidence: 0.92,
  },
  {
    id: 'build/vite-transform',
    // How Vite prints what a plugin threw while it transformed a module, in any development server that is built on it.
    // https://github.com/vitejs/vite/blob/v8.0.0/packages/vite/src/node/server/middlewares/error.ts
    pattern: /^\[vite\] [^\n]{1,900}(?:\n(?!\[vite\])[^\n]{0,400}){0,12}?\n[ \t]{1,8}Plugin: \S/m,
    sources: ['server'],
    confidence: 0.94,
  },
  {
    id: 'build/unresolved-import',
    pattern:
      /Could not load \S{1,200} \(imported by|\[UNRESOLVED_IMPORT\]|Failed to resolve '[^'\n]{1,200}' from|(?:Could not|Cannot) resolve entry module|is not exported from package|No loader is configured for|Failed to resolve import |Failed to resolve entry for package|Failed to load url |Could not resolve:? ["'][^"'\n]{1,200}["']|Does the file exist\?|are imported but could not be resolved|Failed to resolve module specifier|Can't resolve '[^'\n]{1,200}'|Unable to resolve path to module|Failed to resolve "[^"\n]{1,200}"|Unable to resolve (?:module |\[)/i,
    unless: /could not resolve:? ["'](?:https?:|localhost|\d+\.)|could not resolve host/i,
    confidence: 0.95,
  },
  {
    id: 'build/missing-export',
    pattern:
      /\[MISSING_EXPORT\]|is not exported (?:by|from) ["']|No matching export in ["']|Can't import the named export '|Attempted import error:|export '[^'\n]{1,80}'.{0,80} was not found in '|Export \S{1,80} doesn't exist in target module|Missing "[^"\n]{1,120}" (?:specifier|export) in "/i,
    confidence: 0.95,
  },
  {
    id: 'build/bundler-failed',
    pattern:
      /Invalid option in (?:transform|build)\(\) call|Parse (?:failure|error): |available in the configured target environment|[Ff]ailed to load (?:PostCSS )?config\b|Loading PostCSS Plugin failed|\bRollup ?Error\b|Entry module cannot be external|[✘✗X] \[ERROR\] (?!Uncaught|\w*(?:Error|Exception)\b)|Failed to scan for dependencies|Failed to parse source for import analysis|Unable to compile|Outdated Optimize Dep/i,
    confidence: 0.95,
  },
  {
    id: 'build/bundler-gave-up',
    // The last line of a bundler: that it failed. The lines before it, or the error itself, say why.
    pattern:
      /Build failed in \d|🚨 Build failed|(?:Transform|Build) failed with \d+ errors?|error during build:|(?:bundle failed|failed to bundle)/i,
    confidence: 0.91,
  },
  {
    id: 'build/webpack',
    pattern:
      /Module not found: |Module build failed|Module parse failed|^\s{0,20}ERROR in \.{1,2}\/|You may need an appropriate loader|Failed to compile|\bModule(?:Build|Parse|NotFound)Error: Module|HookWebpackError|Invalid configuration object\. Webpack|webpack errors|[Cc]ompiled with [1-9]\d{0,4} errors?|ERR_OSSL_EVP_UNSUPPORTED|digital envelope routines/m,
    confidence: 0.94,
  },
  {
    id: 'build/next',
    pattern:
      /This build is using Turbopack|Nuxt Build Error|Turbopack (?:build failed|error)|Ecmascript file had an error|Parsing ecmascript source code failed|You're importing a component that (?:needs|imports)|Could not find a production build in the|'server-only' cannot be imported|Invalid next\.config|Build failed because of|must be marked with "use client"|found pages? without a React Component|Failed to collect page data for|^Build Error$/im,
    confidence: 0.92,
  },
  {
    id: 'build/loader-chain',
    // How webpack names a module that passes through loaders: each loader's path, followed by `!`.
    pattern: /[\w-]{2,40}-loader\/[^\s!]{1,200}!\S/,
    unless: /\bat \S|warn|\[built\]/i,
    confidence: 0.72,
  },
  {
    id: 'build/output-missing',
    // An output file that a build should have written is missing; servers in other languages look it up in the bundler's manifest.
    pattern:
      /ENOENT: .{0,200}['"\\/](?:\.next|\.nuxt|\.output|\.svelte-kit|\.vite|dist|build)['"\\/]|\b(?:Vite|Mix|Webpack|Asset|Build) manifest\b.{0,120}(?:not found|not exist|missing)|(?:can't find|cannot read|unable to locate|could not find) .{0,100}\b(?:Vite|Mix|Webpack|asset|the) (?:manifests?|entrypoints)\b|not present in the asset pipeline/i,
    sources: ['error', 'server'],
    confidence: 0.7,
  },
  {
    id: 'build/wrapper',
    // Says that the build ended, not why: the code it ran may have thrown, or queried a database.
    pattern: /Build error occurred|error occurred during build/i,
    confidence: 0.58,
  },
  {
    id: 'build/component-compiler',
    pattern:
      /@?vue\/compiler-sfc\]|\bCompiler?Error\b|Element is missing end tag|\berror NG\d|\bNG[1-9]\d{3}:|is not a known element|<\/?\w{1,40}> attempted to close an element that was not open/i,
    unless: /NG0\d/,
    confidence: 0.93,
  },
  {
    id: 'build/stale-chunk',
    pattern:
      /Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed|\bChunkLoadError\b|Loading (?:CSS )?chunk \S{1,80} failed|Failed to load chunk|Failed to load module script|Unable to preload CSS|valid digest in the 'integrity'|in the integrity attribute match|Failed integrity metadata check|Refused to execute script from .{1,300} MIME type/i,
    confidence: 0.82,
  },
  {
    id: 'build/error-overlay',
    pattern: /<(?:vite-error-overlay|webpack-dev-server-client-overlay|vite-plugin-checker-error-overlay)>/,
    sources: ['error'],
    confidence: 0.85,
  },
  {
    id: 'build/next-overlay',
    // The overlay shows runtime errors as well; only its text could tell them apart.
    pattern: /<nextjs-portal>/,
    sources: ['error'],
    confidence: 0.5,
  },
  {
    id: 'build/overlay-on-page',
    pattern: /\[plugin:vite[:\w-]{1,60}\] \S|\bdialog "(?:Build Error|Failed to compile)/,
    sources: ['page'],
    confidence: 0.9,
  },
  {
    id: 'build/broken-script',
    // A development server answers 500 for a module that it cannot transform.
    pattern: /^(?:script|stylesheet) GET \S+ → 5\d\d/m,
    sources: ['network'],
    confidence: 0.85,
  },
  {
    id: 'build/missing-script-line',
    // The same as a browser's console reports it.
    pattern: /\bGET \S{1,300}\.(?:m?js|css)(?:\?\S{0,200})? (?:net::ERR_ABORTED )?404\b/,
    sources: ['error', 'console'],
    confidence: 0.75,
  },
  {
    id: 'build/missing-script',
    // Files that only a build or a development server produces: a source, a hashed name, a file in an output folder.
    // Any other missing script is just a wrong URL.
    pattern:
      /^(?:script|stylesheet) GET (?:\S+\.(?:[cm]?tsx?|jsx|vue|svelte)|\S*\/(?:dist|build|out|_next|_nuxt|_app|\.vite|chunks?)\/\S+\.(?:m?js|css)|\S+[.-](?=[\w-]*\d)[\w-]{8,}\.(?:m?js|css))(?:\?\S*)? → (?:404|2\d\d with text\/html)/m,
    sources: ['network'],
    confidence: 0.75,
  },
]);
