import { rulesFor } from '../../rule.js';

/** Exceptions recognized by their shape alone when no rule knows the message. */
export const exceptionRules = rulesFor('runtime-error', [
  {
    id: 'runtime/server-rendering',
    pattern:
      /not matching server-rendered content|^\s{0,20}- (?:rendered on server|expected on client|Client vnode|Server rendered DOM):|Bailing hydration|Server rendered element contains|error (?:while|when|during) (?:server[- ]?side )?rendering|Error handling .{0,60}render/im,
    confidence: 0.88,
  },
  {
    id: 'runtime/named-exception',
    // `SomethingError: message` at the beginning of a line.
    pattern:
      /(?:^\s{0,12}|[|\]>:] {1,3})(?:Uncaught |Unhandled |Caused by: |Exception in thread \S{1,40} |error: )?(?:[\w$.]{1,100}[.\\:])?[A-Z]\w{1,60}(?:Error(?: \[\w{1,60}\])?:\s|Exception(?::\s|\s*$))/m,
    sources: ['error'],
    unless:
      /[Tt]imeout|Assert|Expect|Abort|Playwright|Target|Protocol|Syntax|[Ll]ocator|Network|Axios|Fetch|HTTP|Http|Driver|Cypress|Element|Session|[Ss][Qq][Ll]|Prisma|Sequelize|Mongo|Database|Query|Postgres|Integrity|Operational|Persistence|DataAccess|Module|Build|Rollup|Strict/,
    confidence: 0.45,
  },
  {
    id: 'runtime/page-frame',
    // Stack frames of scripts that the page loaded.
    pattern:
      /^\s{0,20}at .{0,120}\(?(?:webpack-internal|https?):\/\/.{1,300}:\d+:\d+\)?$|^[\w$.<>/]{0,80}@https?:\/\/.{1,300}:\d+:\d+$/m,
    sources: ['error'],
    unless: /cypress_runner|__cypress|\/wd\//,
    confidence: 0.44,
  },
  {
    id: 'runtime/script-frame',
    // Thrown by a script outside the test tools; the text does not say what happened.
    pattern:
      /^\s{0,20}at (?:async )?[^\n]{0,160}?(?:file:\/\/|\/|[A-Za-z]:\\)[^\n()]{1,300}\.(?:[cm]?[jt]sx?|vue|svelte):\d{1,7}:\d{1,7}\)?\s*$/m,
    sources: ['error'],
    unless: /node_modules|playwright|jest|mocha|\.(?:spec|test|e2e)\b/,
    confidence: 0.32,
  },
  {
    id: 'runtime/ruby',
    // Rails: `ArgumentError (no ratings):` and below it frames; Sinatra: `- ArgumentError - no ratings:`; Puma: `#<ArgumentError: no ratings>`;
    // Ruby, before it exits: `/srv/app.rb:4:in `total': no ratings (ArgumentError)`.
    pattern:
      /^(?!Traceback )(?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60} \((?!\d)[^\n]{1,1000}\):$|^(?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60}(?:Error|Exception) \([^\n]{0,1000}$|^- (?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60} - [^\n]{1,1000}$|: #<(?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60}(?:Error|Exception)?: [^\n]{1,1000}>$|^[^\s:]{1,300}\.(?:rb|ru|rake):\d{1,7}:in [`'][^\n]{1,1000} \((?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60}\)$/m,
    sources: ['server'],
    unless:
      /\bRoutingError\b|\bActiveRecord::|\bPG::|\bMysql2?::|\bSQLite3::|\bSequel::|\bMongo|\bRedis|\bErrno::E(?:CONN|HOST|ADDR|PIPE)|\bNet::|\bSocketError\b|Timeout|\bLoadError\b|\bSyntaxError|\bInterrupt\b|\bSignalException\b/,
    confidence: 0.84,
  },
  {
    id: 'runtime/php',
    // Of an exception, the line also says `Uncaught` and its name; this is what PHP itself raises: memory, time, a missing file.
    // Monolog, Laravel's log, adds the exception as JSON.
    pattern: /\bPHP (?:Fatal|Recoverable fatal) error: |"\[object\] \([\w\\]{1,200}\(code: /,
    sources: ['server'],
    unless:
      /\bUncaught\b|QueryException|PDOException|(?:Connect|Connection|Request|NotFoundHttp|Authentication|Authorization|Validation|TokenMismatch)Exception/,
    confidence: 0.84,
  },
  {
    id: 'runtime/python',
    // The line that ends a traceback: `shop.errors.OutOfStock: Pen`. Python's exceptions need not end in `Error`.
    pattern:
      /^(?=[A-Za-z_][\w.<>]{1,150}(?:: |:?$))(?<=^[ \t]{1,20}File "[^"\n]{1,300}", line \d{1,7}[^\n]{0,200}\n(?:[ \t][^\n]{0,600}\n){0,9})\w/m,
    unless:
      /^(?:[\w.]{1,100}\.)?(?:Syntax|Indentation|Tab|Import|ModuleNotFound|Assertion|Cancelled|BrokenPipe|\w*(?:Connect|Timeout|HTTP|URL)\w*)Error\b|^(?:[\w.]{1,100}\.)?(?:\w*Timeout|gaierror|SystemExit|KeyboardInterrupt)\b|playwright/,
    confidence: 0.9,
  },
  {
    id: 'runtime/traceback',
    pattern: /Traceback \(most recent call last\)|^goroutine \d+ \[running\]/m,
    sources: ['error', 'server'],
    unless: /playwright/,
    confidence: 0.3,
  },
]);
