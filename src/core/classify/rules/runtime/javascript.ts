import { rulesFor, wrapping } from '../../rule.js';

/** Exceptions that stand for a failed request, a module that did not load, or an error of the test runner. */
const notTheCode =
  /Failed to fetch|fetch failed|NetworkError|Load failed|network connection was lost|dynamically imported|module script|could not serialize|Unknown file extension|module specifier|ERR_(?:UNKNOWN_FILE|INVALID_MODULE|NETWORK)|in ES module scope|\b\w{0,20}[Pp]age\.(?:locator|getBy\w+|goto) is not a function|\b(?:page|browser|context|locator|request|playwright|chromium|firefox|webkit|expect|test|describe)\.\w+(?:\.\w+)?(?:\(\.\.\.\))? is not a function|(?:describe|beforeAll|beforeEach|afterAll|afterEach|expect|chromium|_?playwright) is not (?:a function|defined)|\b(?:jest|cy|vi) is not defined|Class extends value undefined|'Page' object has no attribute|Target page, context or browser|Target closed|TypeError: terminated/;

const uncaught =
  /\bUncaught (?:\(in promise\) ?)?(?:\w*(?:Error|Exception)\b|[A-Za-z#<])|\bUnhandled ?(?:Promise|Runtime)? ?(?:Rejection|Error|Exception)\b|unhandledRejection|uncaughtException|ERR_UNHANDLED_(?:REJECTION|ERROR)|unhandled promise rejection/i;
/** Uncaught exceptions that stand for a failed request or an error of the test runner. */
export const uncaughtButNotTheCode =
  /Failed to fetch|fetch failed|NetworkError|Load failed|net::ERR|AxiosError|Network Error|ECONN|ENOTFOUND|ETIMEDOUT|status code \d|Evaluation failed|dynamically imported|module script|ChunkLoadError|AbortError|play\(\) request|ResizeObserver|TimeoutError|Target (?:page|closed)|PlaywrightException: |browser has been closed|Protocol error|Executable doesn't exist|SecurityError: .{0,40}(?:cookie|localStorage)|EADDRINUSE|\(os error \d+\)|\bConnection(?:Refused|Reset|Aborted)?Error\b|connection refused/i;

/** Errors that JavaScript engines (V8, SpiderMonkey, JavaScriptCore) and Node throw for faulty code. */
export const javascriptRules = rulesFor('runtime-error', [
  {
    id: 'runtime/type-error',
    pattern:
      /Cannot (?:read|set) propert(?:y|ies)\b|Cannot (?:read|write) private member|class constructor \S{1,80} cannot be invoked without 'new'|Reduce of empty array|\b[\w$.\])]{1,120} is not a (?:function|constructor)\b|\bis not iterable\b|Cannot destructure property|is not an object \(evaluating|can't access property|Cannot convert undefined or null to object|Assignment to constant variable|has no properties\b|Cannot access ['"]?[\w$.]{1,80}['"]? before initialization|circular structure to JSON|(?:undefined|null) is not (?:an object|a function|a constructor|iterable)|object is not extensible|private field|Cannot assign to read only property|Cannot (?:delete|redefine|create|define) property|invalid attempt to (?:spread|destructure|iterate)|Cannot use 'in' operator|Illegal invocation|incompatible receiver/i,
    unless: notTheCode,
    confidence: 0.9,
  },
  {
    id: 'runtime/reference-error',
    pattern:
      /\bReferenceError: |(?:^|[\s\]:("'`])[\w$#/.]{1,60}["'`]? is not defined(?! (?:by|in|for|as)\b)\b|can't find variable: /im,
    unless: notTheCode,
    confidence: 0.9,
  },
  {
    id: 'runtime/undefined-value',
    // Firefox names the undefined expression; without the exception's name, this may be ordinary prose.
    pattern:
      /(?:^|[\s:"'`(])[\w$]+(?:\.[\w$]+|\[\w+\]|\(\.{3}\)){0,8} is (?:undefined|null)\b(?! (?:or|and)\b)/m,
    sources: ['error', 'console'],
    unless: notTheCode,
    confidence: 0.5,
  },
  {
    id: 'runtime/range-error',
    pattern:
      /\b(?:Range|URI|Eval)Error: |Maximum call stack size exceeded|too much recursion|Invalid array length|Invalid time value/i,
    confidence: 0.88,
  },
  {
    id: 'runtime/json',
    pattern:
      /Unexpected (?:token|identifier|number|string|non-whitespace character|end of).{0,60}\bJSON\b|is not valid JSON|JSON\.parse: |JSON Parse error|Expected (?:property name|',' or|double-quoted).{0,60} in JSON|(?:Bad|Unterminated) .{0,40} in JSON|JSONDecodeError/i,
    confidence: 0.85,
  },
  {
    id: 'runtime/type-error-name',
    pattern:
      /(?:^|\b(?:Uncaught|Error|Unhandled|failed|thrown|exception)\b.{0,60}|[:\]>]\s)TypeError(?: \[\w+\])?: \S/im,
    unless: notTheCode,
    confidence: 0.8,
  },
  {
    id: 'runtime/uncaught',
    pattern: uncaught,
    sources: ['console', 'stack', 'server'],
    unless: uncaughtButNotTheCode,
    confidence: 0.78,
  },
  {
    id: 'runtime/uncaught-in-error',
    // Only says that the error was not caught; any rule that matches the error itself says more.
    pattern: uncaught,
    sources: ['error'],
    unless: uncaughtButNotTheCode,
    confidence: 0.35,
  },
  {
    id: 'runtime/playwright-config',
    // What the config throws (`assert(process.env.API_KEY)`) is about no page, although its wording may be that of an assertion.
    pattern: /^\s{1,20}at .{0,400}\bplaywright[\w.-]{0,60}?\.config\.[cm]?[jt]s:\d{1,7}:\d{1,7}\)?$/m,
    sources: ['stack'],
    confidence: 0.75,
  },
  ...wrapping({
    id: 'runtime/page-exception',
    // Not what Python puts between two tracebacks: `During handling of the above exception, another exception occurred:`.
    pattern:
      /originated from your (?:application|test) code|(?<!another )\bException (?:while|in (?!thread)|during|occurred)\b|a (?:client|server)-side exception has occurred|Unexpected Application Error!|Unhandled Runtime Error|\bQWIK ERROR |^\s{0,20}(?:Uncaught )?Script error\.?\s*$|\bdigest: ?['"]?\d{6,}/im,
    confidence: 0.85,
  }),
  {
    id: 'runtime/node',
    pattern:
      /ERR_HTTP_HEADERS_SENT|set headers after|\bERR_(?:INVALID_(?:ARG_TYPE|ARG_VALUE|STATE|RETURN_VALUE|THIS|CALLBACK|URL|CHAR)|STREAM_\w+|USE_AFTER_CLOSE)\b|write after end|\bInvalid URL\b|\binvariant (?:failed|violation)|^\s{0,20}Invariant: |\bZodError\b|\bDataCloneError\b|\b(?:QuotaExceeded|InvalidState|HierarchyRequest|IndexSize|InvalidCharacter|InvalidAccess)Error\b|\bDOMException: |\bFailed to execute '\w{1,60}' on '\w{1,60}'|\b(?:NotFoundError|SecurityError): |Invalid regular expression|Invalid flags supplied to RegExp|\b(?:missing|invalid|undefined) (?:required )?environment variables?\b|Actions must be plain objects/im,
    unless:
      /ERR_INVALID_URL.*net::|Cannot navigate to|net::ERR|Failed to fetch|play\(\)|is not a valid selector|'fetch' on 'Window'/,
    confidence: 0.82,
  },
  {
    id: 'runtime/selector-of-the-page',
    pattern: /is not a valid selector/,
    unless: /locator|[Pp]age\.|frame\.|elementHandle/,
    confidence: 0.75,
  },
  {
    id: 'runtime/console-errors-found',
    // A test that fails because the console has errors, without quoting them.
    pattern: /\bconsole errors?(?: in| detected| found| during| was| were|:)/i,
    sources: ['error'],
    confidence: 0.65,
  },
  {
    id: 'runtime/resize-observer',
    pattern: /ResizeObserver loop (?:limit exceeded|completed with undelivered)/i,
    sources: ['error'],
    confidence: 0.7,
  },
  {
    id: 'runtime/missing-file',
    pattern: /\b(?:ENOENT|EISDIR|ENOTDIR): \w/i,
    sources: ['error', 'server'],
    unless: /ms-playwright|spawn /,
    confidence: 0.6,
  },
  {
    id: 'runtime/thrown-error',
    // `throw new Error(…)` with its frames and a message that no rule knows.
    pattern:
      /^.{0,80}?\b(?:[A-Z]\w{0,40})?(?:Error|Exception): .{1,400}\n(?:\s*\n)?\s{1,12}at .{1,300}:\d{1,7}/m,
    sources: ['error'],
    unless: /expect|[Tt]imeout|[Ll]ocator|\b[Pp]age\.|\b[Bb]rowser/,
    confidence: 0.6,
  },
  {
    id: 'runtime/thrown-on-server',
    // The same on the server, if the app's own code threw it: a library's plain `Error` may be about a request.
    pattern:
      /^(?:Uncaught )?[Ee]rror: [^\n]{1,400}\n[ \t]{1,12}at (?![^\n]{0,400}(?:node_modules|\bnode:))[^\n]{1,400}:\d{1,7}/m,
    sources: ['server'],
    unless: uncaughtButNotTheCode,
    confidence: 0.71,
  },
  {
    id: 'runtime/own-error-class',
    // The app's own error class, uncaught, with a message that no rule knows. Astro prints `[Name] message`, and below it what it knows.
    pattern:
      /^(?:Uncaught )?(?:[A-Z]\w{2,60}(?:Error|Exception)(?: \[\w{1,60}\])?:|\[[A-Z]\w{2,60}(?:Error|Exception)\]) \S|^\[[A-Z]\w{2,60}\] (?=[^\n]{1,400}\n(?:[^\n]{0,400}\n){0,12}? {2}(?:Hint|Error reference|Location|Stack trace):$)/m,
    sources: ['server'],
    unless: new RegExp(`${uncaughtButNotTheCode.source}|Timeout|Abort|Axios|Fetch|Assertion|Syntax`, 'i'),
    confidence: 0.72,
  },
]);
