import { certain, likely, weak } from '../../model/diagnosis.js';
import { createRules } from '../rule.js';

/** Exceptions that report a failed request, a module that did not load, or a test runner error. */
const notTheCode =
  /Failed to fetch|fetch failed|NetworkError|Load failed|network connection was lost|dynamically imported|module script|could not serialize|Unknown file extension|module specifier|in ES module scope|\b(?:\w{0,20}[Pp]age|browser|context|locator|request|playwright|chromium|firefox|webkit|expect|test|describe)\.\w+(?:\.\w+)?(?:\(\.\.\.\))? is not a function|(?:describe|beforeAll|beforeEach|afterAll|afterEach|expect|chromium|_?playwright) is not (?:a function|defined)|\b(?:jest|cy|vi) is not defined|Class extends value undefined|'Page' object has no attribute|Target page, context or browser|TypeError: terminated/;

/** Uncaught exceptions that report a failed request or a test runner error. */
const uncaughtButNotTheCode =
  /Failed to fetch|fetch failed|NetworkError|Load failed|net::ERR|AxiosError|Network Error|ECONN|ENOTFOUND|ETIMEDOUT|status code \d|Evaluation failed|dynamically imported|module script|ChunkLoadError|AbortError|play\(\) request|ResizeObserver|TimeoutError|Target (?:page|closed)|browser has been closed|Protocol error|Executable doesn't exist|SecurityError: .{0,40}(?:cookie|localStorage)|EADDRINUSE|\bConnection(?:Refused|Reset|Aborted)?Error\b|connection refused/i;

/** Code of the page, the server or the test threw while it ran (CS-3). */
export const runtimeRules = createRules('runtime-error', {
  'runtime/javascript': [
    certain,
    // What JavaScript engines (V8, SpiderMonkey, JavaScriptCore) throw for faulty code.
    /Cannot (?:read|set) propert(?:y|ies)\b|\b[\w$.\])]{1,120} is not a (?:function|constructor)\b|\bis not iterable\b|Cannot destructure property|is not an object \(evaluating|can't access property|Cannot convert undefined or null to object|Assignment to constant variable|has no properties\b|Cannot access ['"]?[\w$.]{1,80}['"]? before initialization|circular structure to JSON|object is not extensible|Cannot assign to read only property|Illegal invocation|Reduce of empty array|(?:^|[\s:\]>])TypeError(?: \[\w+\])?: \S|\bReferenceError: |(?:^|[\s\]:("'`])[\w$#/.]{1,60}["'`]? is not defined(?! (?:by|in|for|as)\b)\b|can't find variable: |\b(?:Range|URI|Eval)Error: |Maximum call stack size exceeded|too much recursion|Invalid array length|Invalid time value/im,
    { unless: notTheCode },
  ],
  'runtime/react-caught': [
    certain,
    // Below the error itself, React names the component that threw, up to version 18 in a separate console entry; Next ends an error that it
    // rendered on the server with the error's digest.
    /^[ \t]{0,4}(?:Uncaught )?(?:[A-Z]\w{0,60})?(?:Error|Exception): [^\n]{1,400}(?:\n(?! ?(?:Uncaught )?\w{0,60}(?:Error|Exception): )[^\n]{0,400}){0,40}?(?:(?<=\bThe above error occurred in (?:the|one of)\b[^\n]{0,400})|(?<=\n {0,8}digest: '\d{6,12}'[^\n]{0,4}))$/m,
    { in: ['console', 'server'], unless: uncaughtButNotTheCode },
  ],
  'runtime/hydration': [
    certain,
    /hydration (?:failed|error|mismatch|(?:node|text|text content|children|class|style) mismatch|completed but contains mismatches)|error(?:ed)? while hydrating|text content (?:does|did) not match|didn't match the client|server[- ]rendered (?:HTML|text|content).{0,30}(?:match|mismatch)|not matching server-rendered|Expected server HTML to contain|^\s{0,20}- (?:rendered on server|expected on client):/im,
  ],
  'runtime/framework': [
    certain,
    // React, Vue, Svelte and Angular.
    /(?:Minified )?React error #\d+|Invalid hook call|Rendered (?:more|fewer) hooks than|Too many re-renders|Maximum update depth exceeded|not valid as a React child|Element type is invalid|Nothing was returned from render|The above error occurred in (?:the|one of)|must be (?:used|rendered) (?:within|inside) (?:a |an |the )?[`'<]?\w{0,40}(?:Provider|Context|Router)|[Ee]rror [Bb]oundary (?:caught|:)|occurred in the Server Components render|\[Vue warn\]: (?:Unhandled error|Error in|Failed to resolve (?:component|directive)|.{0,80}is not defined on instance)|getActivePinia\(\)|\[nuxt\].{0,40}error|\[nitro\].{0,40}\[unhandled|svelte\.dev\/e\/\w+|effect_update_depth_exceeded|each_key_duplicate|\bNG0\d{2,4}\b|ExpressionChangedAfterItHasBeenChecked|NullInjectorError|No provider for \w|pass\w{0,10} (?:directly )?to Client Components?/,
  ],
  'runtime/python': [
    certain,
    // The line that ends a traceback: `shop.errors.OutOfStock: Pen`. Python's exceptions need not end in `Error`.
    /^(?=[A-Za-z_][\w.<>]{1,150}(?:: |:?$))(?<=^[ \t]{1,20}File "[^"\n]{1,300}", line \d{1,7}[^\n]{0,200}\n(?:[ \t][^\n]{0,600}\n){0,9})\w/m,
    {
      unless:
        /^(?:[\w.]{1,100}\.)?(?:Syntax|Indentation|Tab|Import|ModuleNotFound|Assertion|Cancelled|BrokenPipe|\w*(?:Connect|Timeout|HTTP|URL)\w*)Error\b|^(?:[\w.]{1,100}\.)?(?:\w*Timeout|gaierror|SystemExit|KeyboardInterrupt)\b|playwright/,
    },
  ],
  'runtime/other-languages': [
    certain,
    // Python without its traceback, Go, PHP, Ruby, Java.
    /object has no attribute '|\b(?:KeyError|NameError|IndexError|ZeroDivisionError): |nil pointer dereference|^\s{0,20}(?:\S{1,60} )?panic: |\bpanic serving \S{1,60}: |\bruntime error: (?:index out of range|slice bounds|integer divide)|\btemplate: \S{1,100}:\d{1,6}:\d{1,6}: executing |panicked at |Call to (?:undefined|a member) function|Undefined (?:index|array key|variable)\b|PHP Fatal error: |\bNoMethodError\b|\bNullPointerException\b|\bNullReferenceException\b|\bTemplateSyntaxError\b/m,
    { unless: /'(?:Page|Browser|BrowserContext|Locator|Playwright|Frame)' object has no attribute|fixture/ },
  ],
  'runtime/json': [
    likely,
    /Unexpected (?:token|identifier|number|string|non-whitespace character|end of).{0,60}\bJSON\b|is not valid JSON|JSON\.parse: |JSON Parse error|in JSON at position|JSONDecodeError/i,
  ],
  'runtime/node': [
    likely,
    /ERR_HTTP_HEADERS_SENT|\bERR_(?:INVALID_(?:ARG_TYPE|ARG_VALUE|STATE|RETURN_VALUE|THIS|URL)|STREAM_\w+)\b|write after end|\bInvalid URL\b|\binvariant (?:failed|violation)|\bZodError\b|\b(?:QuotaExceeded|InvalidState|HierarchyRequest|InvalidCharacter|DataClone)Error\b|\bDOMException: |\bFailed to execute '\w{1,60}' on '\w{1,60}'|\b(?:NotFoundError|SecurityError): |Invalid regular expression|Invalid flags supplied to RegExp|\b(?:missing|invalid|undefined) (?:required )?environment variables?\b|is not a valid selector/im,
    {
      unless:
        /ERR_INVALID_URL.*net::|Cannot navigate to|net::ERR|Failed to fetch|play\(\)|'fetch' on 'Window'|(?:locator|[Pp]age\.|frame\.|elementHandle).*is not a valid selector/,
    },
  ],
  'runtime/uncaught': [
    likely,
    /\bUncaught (?:\(in promise\) ?)?(?:\w*(?:Error|Exception)\b|[A-Za-z#<])|\bUnhandled ?(?:Promise|Runtime)? ?(?:Rejection|Error|Exception)\b|unhandledRejection|uncaughtException|ERR_UNHANDLED_(?:REJECTION|ERROR)|originated from your (?:application|test) code|a (?:client|server)-side exception has occurred|error occurred prerendering page/i,
    { in: ['stack', 'console', 'network', 'server'], unless: uncaughtButNotTheCode },
  ],
  'runtime/thrown-on-server': [
    likely,
    // An error that the app's own code threw, directly or in a call to Node; a library's plain `Error` may be about a request. Or an uncaught error of
    // the app's own class; Astro prints `[Name] message`.
    /^(?:Uncaught )?[Ee]rror: [^\n]{1,400}\n(?:[ \t]{1,12}at [^\n]{0,200}\bnode:[^\n]{1,200}\n){0,8}[ \t]{1,12}at (?![^\n]{0,400}(?:node_modules|\bnode:))[^\n]{1,400}:\d{1,7}|^(?:Uncaught )?[A-Z]\w{2,60}(?:Error|Exception)(?: \[\w{1,60}\])?: \S|^\[[A-Z]\w{2,60}(?:Error|Exception)\] \S/m,
    {
      in: ['server'],
      unless: new RegExp(`${uncaughtButNotTheCode.source}|Timeout|Abort|Axios|Fetch|Assertion|Syntax`, 'i'),
    },
  ],
  'runtime/logged-as-error': [
    likely,
    // Any log record with an error level.
    /^[^\n]{0,100}?(?:\[(?:error|fatal|critical)\]|\blevel["']?[=:] ?["']?(?:error|fatal|critical|50\b|60\b)|\bERROR \(\d{1,8}\): |\b\w{1,40}\.ERROR: |^ERROR:[\w.]{1,80}:|\bERROR -- : )[^\n]{0,600}\S/m,
    {
      in: ['server'],
      unless: new RegExp(
        `${uncaughtButNotTheCode.source}|abort|time(?:d )?-?out|upstream|prox(?:y|ied)|\\b40[0-9]\\b|not found`,
        'i',
      ),
    },
  ],
  'runtime/playwright-config': [
    likely,
    // An exception in the config (`assert(process.env.API_KEY)`) is not about a page, even if it reads like an assertion.
    /^\s{1,20}at .{0,400}\bplaywright[\w.-]{0,60}?\.config\.[cm]?[jt]s:\d{1,7}:\d{1,7}\)?$/m,
    { in: ['stack'] },
  ],
  'runtime/resize-observer': [
    likely,
    /ResizeObserver loop (?:limit exceeded|completed with)/i,
    { in: ['error'] },
  ],
  'runtime/console-errors-found': [
    weak,
    // A test that fails because the console has errors, without quoting them.
    /\bconsole errors?(?: in| detected| found| during| was| were|:)/i,
    { in: ['error'] },
  ],
  'runtime/thrown-error': [
    weak,
    // An exception with frames and a message that no other rule matches, or a bare report of an uncaught one.
    /^.{0,80}?\b(?:[A-Z]\w{0,40})?(?:Error|Exception): .{1,400}\n(?:\s*\n)?\s{1,12}at .{1,300}:\d{1,7}|\bException (?:while|in (?!thread)|during) |uncaught ?(?:exception|\w)|\bUnhandled ?(?:Promise|Runtime)? ?(?:Rejection|Error|Exception)\b|a (?:client|server)-side exception has occurred|error occurred prerendering page|originated from your (?:application|test) code|\bdigest: ?['"]?\d{6,}/im,
    {
      in: ['error'],
      unless: new RegExp(
        `expect|[Tt]imeout|[Ll]ocator|\\b[Pp]age\\.|\\b[Bb]rowser|${uncaughtButNotTheCode.source}`,
      ),
    },
  ],
  'runtime/named-exception': [
    weak,
    // `SomethingError: message` at the beginning of a line.
    /(?:^\s{0,12}|[|\]>:] {1,3})(?:error: )?(?:[\w$.]{1,100}[.\\:])?[A-Z]\w{1,60}(?:Error(?: \[\w{1,60}\])?:\s|Exception(?::\s|\s*$))/m,
    {
      in: ['error'],
      unless:
        /[Tt]imeout|Assert|Expect|Abort|Playwright|Target|Protocol|Syntax|[Ll]ocator|Network|Axios|Fetch|HTTP|Http|Driver|Element|Session|[Ss][Qq][Ll]|Prisma|Mongo|Database|Module|Build|Rollup|Strict/,
    },
  ],
});
