import type { Pattern } from './app.js';

/** Source files in languages that are not parsed. */
const code = /\.(?:py|rb|php|go|java|kt|scala|cs|rs|exs?|swift)$/;
/** Templates with code in such a language. */
export const codeInMarkup = /\.(?:erb|twig|jinja2?|j2|html?)$/;
/** Both. They are judged line by line, by names that the languages share. */
export const otherLanguage = anyOf(code, codeInMarkup);

/** Combines patterns without flags into one that matches what any of them does. */
export function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'));
}

const python = /\.py$/;
const braces = /\.(?:php|java|kt|scala|cs|swift)$/;

/** A value that is written down: `None`, `""`, `[]`, `0`. */
const value = String.raw`(?:None|nil|null|[Tt]rue|[Ff]alse|[\d.]+|'[^'\n]*'|"[^"\n]*"|\[\]|\{\}|\(\))`;
/** What an error handler does that neither reports nor answers the failure: it does nothing, logs a warning, or takes a value that is written down. */
const nothing = String.raw`(?:pass|continue|(?:return\b[ \t]*)?${value}?|[\w.]+ = ${value}|(?:[\w.]*\.)?(?:log|logger|logging)\.(?:warn\w*|info|debug)\b.*|(?:puts|print)\b.*);?`;
const comments = String.raw`(?:\s|(?:#|//).*\n|/\*[^*]*\*/)*`;

/** What a fix may not add to the code of an app, as `app.ts` finds it in JavaScript by parsing: dropped errors, switches, loosened checks. */
export const addedElsewhere: readonly Pattern[] = [
  [
    'errors-silenced',
    new RegExp(String.raw`\bexcept\b[^\n]*:${comments}(?<=\s)${nothing}[ \t]*(?:#.*)?(?=\n|$)`),
    python,
  ],
  ['errors-silenced', /\bcontextlib\.suppress\(/, python],
  [
    'errors-silenced',
    new RegExp(
      String.raw`\brescue(?:[ \t]+${value}[ \t]*(?=\n)|\b[^\n]*\n${comments}${nothing}\s*\n\s*end\b)`,
    ),
    /\.rb$/,
  ],
  [
    'errors-silenced',
    new RegExp(String.raw`\bcatch\s*\([^)]*\)\s*\{${comments}${nothing}${comments}\}`),
    braces,
  ],
  ['errors-silenced', /(?<!\w)_ = recover\(\)|\brecover\(\)\s*\}\(\)|^\s*_ = err\b/m, /\.go$/],
  [
    'app-detects-tests',
    /\b(?:environ|getenv|ENV|env|environment)\b[^\n]{0,20}['"](?:\w+_)?(?:TEST(?:ING|S)?|CI|E2E)['"]|\bRails\.env\.test\?|['"][^'"\n]*headless[^'"\n]*['"]/i,
    otherLanguage,
  ],
  ['sleep-added', /\b(?:time\.sleep|time\.Sleep|usleep|Thread\.sleep|sleep)\s*\(?\s*\d/, otherLanguage],
  [
    'compiler-loosened',
    /#\s*type:\s*ignore|#\s*mypy:\s*ignore|@phpstan-ignore|@SuppressWarnings|#!?\[allow\(/,
    otherLanguage,
  ],
  [
    'security-loosened',
    anyOf(
      /\bcsrf_exempt\b|\.Exempt\w*\(|\bskip_before_action\b|\bAllowAny\b|\bpermitAll\(|\bhtml_safe\b|\|\s*safe\b/,
      /\bInsecureSkipVerify:\s*true|\bverify\s*=\s*False\b|\bDEBUG\s*=\s*True\b|\bALLOWED_HOSTS\s*=\s*\[\s*['"]\*/,
      /\bvalidate:\s*false\b|\bupdate_columns?\(/,
      /\b(?:ENV\.fetch|getenv|environ\.get|getOrDefault)\(\s*['"]\w*(?:SECRET|PASSWORD|KEY)\w*['"]\s*,/,
    ),
    otherLanguage,
  ],
];

/** Linters that are told to be silent, which fixes no build error. */
export const unlintedElsewhere: Pattern = [
  'compiler-loosened',
  /#\s*noqa|\/\/\s*nolint|rubocop:disable|phpcs:ignore/,
  otherLanguage,
];

/** What refuses something, or decides whether it is allowed, in languages that are not parsed. */
const refusals = anyOf(
  /\braise\b|\bthrow\b|\babort\b|\bpanic\(/,
  /\b(?:[Rr]equire|[Vv]alidate[sd]?|[Aa]uthenticate|[Aa]uthori[sz]e|[Ee]nsure|[Vv]erify|[Pp]rotect|[Ff]orbid)(?:[A-Z_]\w*)?\b/,
  /\b\w+_required\b|\bhas(?:Any)?(?:Role|Authority)\b|\b[Pp]re[Aa]uthorize\b/,
  /\b\w*(?:Forbidden|Unauthori[sz]ed|BadRequest|UnprocessableEntity|PermissionDenied|ValidationError|Validator|NotFound|Http404)\b/,
  /\bPROTECT\b|\b(?:max|min)_length\b|\bunique\w*\b|\bNOT NULL\b|\bnull:\s*false\b|_null\b(?=[^\n]*\bfalse\b)/,
);
/** Refusals in code that is not parsed. */
export const refusalsElsewhere: Pattern = ['restraint-removed', refusals, code, withoutWords];

/** Comments, and texts in quotes. */
const words =
  /"""[^]*?"""|'''[^]*?'''|\/\*[^]*?\*\/|(?<!\S)(?:#(?!\[)|\/\/).*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/** Blanks out the comments and texts of code that is not parsed, and keeps its lines. */
function withoutWords(text: string): string {
  return text.replaceAll(words, (part) => part.replaceAll(/[^\n]/g, ' '));
}
