import { rulesFor } from '../../rule.js';

const extension = String.raw`(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?|s?css|sass|less|styl|html|json|graphql|cs|java|kt|go|rs|cpp?|swift)`;

/** What the errors of all compilers have in common: a position, and stack frames of the toolchain. */
export const structureRules = rulesFor('build-error', [
  {
    id: 'build/error-at-position',
    // `file:line:column: error …`, `file(line,column): error …`, `error in file …`.
    pattern: new RegExp(
      String.raw`(?:^|\s)[^\s:()]{1,200}\.${extension}(?::\d{1,6}:\d{1,6}|\(\d{1,6},\d{1,6}\)):? (?:- )?(?:fatal |syntax )?error\b(?!s)|^\s{0,20}\[?(?:Syntax[Ee]rror|Syntax error|ERROR|Error|error)\]?:? (?:in |from )?(?:\./|/|[A-Za-z]:\\|src/|file://)[^\s:]{0,200}\.${extension}\b`,
      'm',
    ),
    unless: /\bat \S|›|ENOENT|Timeout|browserType|expect|\bconfig\.\w+ must/,
    confidence: 0.8,
  },
  {
    id: 'build/compiler-frame',
    // An exception that a plugin throws while it transforms a module is a failed build, whatever its message.
    pattern:
      /\bat (?:async )?(?:Plugin(?:Context|Container|Pipeline|Driver)|Transform(?:Plugin)?Context|NormalModule|NormalModuleFactory|LazyResult|Compilation|ModuleGraph|compileCSS)\b[.\w]{0,60}|\brunLoaders\b|loader-runner[\\/]lib|node_modules[\\/]@babel[\\/](?:parser|core|traverse)[\\/]|enhanced-resolve[\\/]lib|babelBundleImpl|playwright[\w@.-]{0,20}[\\/]lib[\\/]transform[\\/]|\b(?:Resolve|Build)Message: /,
    confidence: 0.86,
  },
  {
    id: 'build/thrown-by-compiler',
    // The message above the frames of a compiler of components or styles, whatever it says.
    pattern:
      /^(?![ \t]{0,20}at )[^\n]{1,400}\n(?:[ \t]{0,20}\n)?[ \t]{1,20}at [^\n]{0,300}node_modules[\\/](?:@vue[\\/]compiler-|@angular[\\/]compiler|@astrojs[\\/]compiler|svelte[\\/](?:src[\\/])?compiler|sass|less|postcss)[\w\\/-]/m,
    sources: ['error', 'server'],
    confidence: 0.93,
  },
  {
    id: 'build/plugin-speaks',
    // `[@scope/plugin:hook] …`: plugins put their name before the error. Vite puts its own before whatever it reports.
    pattern:
      /^\s{0,20}\[?(?:error\]? )?\[(?!vite\])@?[\w./-]{0,60}(?:vite|rollup|webpack|esbuild|rspack|rolldown|parcel|turbopack|swc|postcss|sass|babel)[\w./:-]{0,60}\] \S|🚨 |@parcel\/[\w-]{1,60}: |\bunplugin-[\w-]{1,40}\b.{0,20}\w*(?:Error|\])/m,
    unless: /\bwarn|proxy|connect|hmr|websocket|deprecat|\binfo\b|ready in|evaluating SSR module/i,
    confidence: 0.78,
  },
  {
    id: 'build/import-of-loader',
    // A module that Deno, Bun, Metro or a browser cannot find or link.
    pattern:
      /\b(?:Export|Import)(?:ed)? (?:named )?['"][^'"\n]{1,100}['"] not found in module|\bModule not found ["']|Cannot resolve (?:module |dependency |import )?["'][^"'\n]{1,300}["']|Unsupported scheme "[^"\n]{1,20}" for module|Relative import path "[^"\n]{1,200}" not prefixed|unable to (?:resolve|load) (?:module |plugin |specifier |dependency |preset |config )?["'`][^"'`\n]{1,300}["'`]|Could not find a matching package|couldn't find package|not (?:found )?in (?:the )?import map/i,
    confidence: 0.92,
  },
  {
    id: 'build/prerender',
    // The build ended because a page could not be prerendered; if there is an exception, it says more.
    pattern:
      /Exiting due to prerender errors|^\s{0,20}Errors prerendering:|handleHttpError|prerender(?:ing)? (?:failed|error)/im,
    confidence: 0.66,
  },
  {
    id: 'build/toolchain',
    pattern:
      /is used but no matching `?@tailwind|`@\w{1,20}` cannot be nested|Unclosed (?:block|string|bracket|comment|quote)|bundle generation failed|Please check your content config file|(?:server|client)-only (?:module|code|import)\b|compil(?:ation|e) (?:failed|errors?\b)|failed to (?:transform|transpile|minify|bundle|compile)\b|Transform error|bundling failed|build errored|Error (?:while|when) preprocess|in production build\b(?!s)|unable to transpile|\bfile ["'][^"'\n]{1,200}\.(?:json|[cm]?[jt]sx?|css|html)["'] (?:couldn't|could not) be found|failed to build\b|(?:data|frontmatter) does not match collection schema/i,
    unless: /warn/i,
    confidence: 0.85,
  },
  {
    id: 'build/command-missing',
    // The shell, in whatever language, does not find the build tool, or a command of any name: it is not installed.
    pattern:
      /^(?:\/\S{0,40}\/)?\w{0,4}sh: (?:line )?(?:\d{1,6}: )?[\w.@/-]{1,200}: (?:command )?not found$|\b(?:tsc|vite|next|nuxt|nuxi|webpack|rollup|esbuild|react-scripts|vue-cli-service|astro|turbo|svelte-kit|remix|ng|tsx|ts-node|tsup|parcel|rspack|nx|gatsby|cross-env)['"»]?:? (?:command )?(?:not found|is not recognized|n'est pas reconnu|wird nicht als|no se reconoce|不是内部或外部命令)|['"](?:tsc|vite|next|nuxt|nuxi|webpack|rollup|react-scripts|vue-cli-service|astro|turbo|ng|tsx|ts-node|tsup|parcel|nx|gatsby|cross-env)['"] (?:is not recognized|n'est pas reconnu|wird nicht als|no se reconoce|不是内部或外部命令)|(?:Le terme|Der Befehl|Die Benennung) ["'](?:tsc|vite|next|nuxt|ng|webpack|astro)["']/m,
    confidence: 0.75,
  },
]);
