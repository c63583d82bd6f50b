import type { Pattern } from './app.js';

/** Source files in languages that are not parsed, and templates. They are judged line by line, by names that the languages share. */
export const otherLanguage = /\.(?:py|rb|php|go|java|kt|scala|cs|rs|exs?|swift|erb|twig|jinja2?|j2|html?)$/;

const code = /\.(?:py|rb|php|go|java|kt|scala|cs|rs|exs?|swift)$/;
const python = /\.py$/;
const braces = /\.(?:php|java|kt|scala|cs|swift)$/;

/** A value that is written down: `None`, `""`, `[]`, `0`. */
const empty = String.raw`(?:None|nil|null|[Tt]rue|[Ff]alse|[\d.]+|'[^'\n]*'|"[^"\n]*"|\[\]|\{\}|\(\)|)`;
const comment = String.raw`[ \t]*(?:(?:#|\/\/).*)?\n`;

/** What a fix may not add to the code of an app, as `app.ts` finds it in JavaScript by parsing: dropped errors, switches, loosened checks. */
export const addedElsewhere: readonly Pattern[] = [
  [
    'errors-silenced',
    new RegExp(
      String.raw`\bexcept\b[^\n]*:${comment}(?:\s*#.*\n)*\s+(?:pass|continue|return[ \t]*${empty}|[\w.]+ = ${empty})[ \t]*(?:#.*)?(?=\n|$)`,
    ),
    python,
  ],
  ['errors-silenced', /\bcontextlib\.suppress\(/, python],
  [
    'errors-silenced',
    new RegExp(String.raw`\brescue(?:[ \t]+${empty}[ \t]*(?=\n)|[^\n]*\n\s*${empty}\s*\n\s*end\b)`),
    /\.rb$/,
  ],
  [
    'errors-silenced',
    new RegExp(String.raw`\bcatch\s*\([^)]*\)\s*\{(?:\s|//.*|/\*[^*]*\*/)*(?:return\s*${empty};?\s*)?\}`),
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
    /\bcsrf_exempt\b|\bskip_before_action\b|\bAllowAny\b|\bpermitAll\(|\bInsecureSkipVerify:\s*true|\bverify\s*=\s*False\b|\bALLOWED_HOSTS\s*=\s*\[\s*['"]\*|\bDEBUG\s*=\s*True\b|\.Exempt\w*\(|\bhtml_safe\b|\|\s*safe\b/,
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
export const refusalsElsewhere: Pattern = [
  'restraint-removed',
  /\braise\b|\babort\b|\bpanic\(|\b(?:login|permission|staff|user|clerk|owner|admin|csrf|role|auth\w*)_required\b|\b(?:Require|require|Validate|validate[sd]?|Authenticate|authenticate|Authori[sz]e|authori[sz]e|Ensure|ensure|Verify|verify|Protect|protect|Forbid|forbid)(?:[A-Z_]\w*)?\b|\b\w*(?:Forbidden|Unauthori[sz]ed|BadRequest|UnprocessableEntity|PermissionDenied|ValidationError|Validator|NotFound|Http404)\b|\bPROTECT\b|\b(?:max|min)_length\b|\bunique\w*\b|\bNOT NULL\b/,
  code,
];

/** Comments, and texts in quotes. */
const words =
  /"""[^]*?"""|'''[^]*?'''|\/\*[^]*?\*\/|(?<!\S)(?:#(?!\[)|\/\/).*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/** Blanks out the comments and texts of code that is not parsed, and keeps its lines. */
export function withoutWords(path: string, text: string): string {
  return code.test(path) ? text.replaceAll(words, (part) => part.replaceAll(/[^\n]/g, ' ')) : text;
}
