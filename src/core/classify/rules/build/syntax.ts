import { rulesFor } from '../../rule.js';

/** Messages of parsers and transformers (Babel, SWC, esbuild, Node) about code and style sheets that they cannot parse. */
export const syntaxRules = rulesFor('build-error', [
  {
    id: 'build/syntax-of-ruby',
    // Ruby, when it starts or when a request first needs the file.
    pattern:
      /\.(?:rb|erb|haml|slim|rake|ru):\d{1,7}: (?:\w{1,20}: )?syntax errors?\b|\bActionView::SyntaxErrorInTemplate\b/,
    confidence: 0.95,
  },
  {
    id: 'build/syntax-of-python',
    // Python names the file and line above the code that it cannot parse.
    pattern:
      /^(?=(?:Syntax|Indentation|Tab)Error: )(?<=^[ \t]{1,20}File "[^"\n]{1,300}", line \d{1,7}\n(?:[ \t][^\n]{0,600}\n){0,4})\w/m,
    confidence: 0.95,
  },
  {
    id: 'build/syntax-with-position',
    pattern:
      /SyntaxError: (?:\S{1,300}\.(?:[cm]?[jt]sx?|vue|svelte|json|astro)\b.{0,200})?.{0,200}\(\d+:\d+\)|(?:Unexpected token|Missing semicolon)[^\n(]{0,60}\(\d+:\d+\)|^\s{0,20}[×x]?\s{0,9}Syntax Error(?:\s{0,9}$|: \w)/im,
    unless: /in JSON/,
    confidence: 0.94,
  },
  {
    id: 'build/syntax-of-javascript',
    pattern:
      /SyntaxError: (?:(?:Unexpected|Invalid or unexpected|Missing|missing|Unterminated|Invalid (?:left|shorthand|destructuring|character)|Illegal|Identifier '|Unexpected strict|Expected|expected|await is only|Octal|Duplicate|Malformed|Private field|Lexical|Rest|Getter|Setter|Function statements|Declaration or|Cannot use|The requested|import |export |'?\w{1,20}'? (?:outside|must)|Class |Deleting|Delete |Unsyntactic|Export ').{0,200})/i,
    unless:
      /JSON|at position \d|DOMException|selector|not a valid|Unexpected end of input|in pattern|regular expression: \//i,
    confidence: 0.86,
  },
  {
    id: 'build/syntax-words',
    // V8's messages without the leading `SyntaxError: `.
    pattern:
      /^\s{0,20}(?:\S{1,200}: )?(?:(?:Invalid or unexpected|Unexpected) token\b|Unexpected (?:identifier|reserved word|strict mode)|Identifier '[^'\n]{1,80}' has already been declared|missing initializer in|missing \) after argument list|await is only valid in)/im,
    unless: /JSON|at position \d|DOCTYPE/i,
    confidence: 0.72,
  },
  {
    id: 'build/babel',
    pattern:
      /Support for the experimental syntax|\bBabelParseError\b|BABEL_\w{0,60}(?:ERROR|UNKNOWN)|\[BABEL\]|Requires Babel "|Cannot find (?:preset|plugin) '|Duplicate declaration "|Decorators are not (?:enabled|valid)/i,
    confidence: 0.92,
  },
  {
    id: 'build/jsx',
    pattern:
      /Adjacent JSX elements|JSX element '?.{0,60} has no corresponding closing tag|Expected corresponding (?:JSX )?closing tag|Unterminated JSX contents|JSX syntax extension is not currently enabled|Cannot use JSX unless|invalid JS syntax.{0,80}JSX|React' refers to a UMD global/i,
    confidence: 0.93,
  },
  {
    id: 'build/unexpected-token',
    pattern:
      /\bERROR: (?:Expected|Unexpected|Unterminated|Syntax)|Expected ["'][^"'\n]{1,20}["'] but found ["']|(?:^|\s)[×x] (?:Expected|Unexpected|Unterminated) .{0,80}|Jest encountered an unexpected token|Unterminated (?:string constant|template|regexp)|^\s{0,20}(?:Error: )?(?:Expression expected|Unexpected eof)\b/m,
    unless: /JSON/,
    confidence: 0.9,
  },
  {
    id: 'build/styles',
    pattern:
      /\[postcss\]|\bCssSyntaxError\b|requires PostCSS 8|(?:as|is not) a PostCSS plugin|Unknown at[- ]rule @|^\s{0,20}(?:Error: |CssSyntaxError: )?Invalid declaration: `|\bSassError\b|Can't find stylesheet to import|Cannot apply unknown utility class|class does not exist\. If |(?:\.s?css|\.less)\S{0,40}:? (?:Unknown word|Undefined (?:variable|mixin))|Error: Undefined (?:variable|mixin)|PostCSS (?:plugin|config)\b.{0,80}(?:error|fail|not|require)|\[sass\]|\[less\]/im,
    confidence: 0.93,
  },
  {
    id: 'build/command-failed',
    pattern:
      /(?:Command failed|ELIFECYCLE|exited with (?:exit )?code [1-9]\d*|exit status [1-9]).{0,80}\b(?:tsc|(?:vite|next|nuxt|ng|webpack|turbo|run|yarn|pnpm|react-scripts|astro)[ :]build)\b|\b(?:tsc|(?:vite|next|nuxt|ng|webpack|turbo|run|yarn|pnpm|react-scripts|astro)[ :]build)\b.{0,80}(?:Command failed|exited with (?:exit )?code [1-9]|exit status [1-9]|failed)|\b(?:tsc|vite|next|nuxt|webpack|rollup|esbuild|react-scripts|astro|turbo|svelte-kit|remix|ng|tsx|ts-node): (?:command )?not found|'(?:tsc|vite|next|nuxt|webpack|rollup|react-scripts|astro|turbo|ng|tsx|ts-node)' is not recognized as/i,
    sources: ['error', 'server'],
    confidence: 0.65,
  },
]);
