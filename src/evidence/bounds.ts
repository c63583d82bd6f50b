const kib = 1024;

/** Maximum size of each part of the evidence (EV-11): bytes of UTF-8, unless the name says otherwise. */
export const bounds = {
  /** The message or the stack of one error, each. */
  errorText: 16 * kib,
  snippet: 8 * kib,
  cause: 4 * kib,
  errorCount: 20,
  causeCount: 10,
  /** React's comparison of what it rendered is behind a kilobyte of advice. */
  consoleText: 8 * kib,
  consoleStack: 4 * kib,
  url: 2 * kib,
  body: 16 * kib,
  headerValue: 1 * kib,
  headerCount: 64,
  serverOutput: 32 * kib,
  ariaSnapshot: 32 * kib,
  screenshot: 10 * 1024 * kib,
  /** One line of `Evidence.missing` or `Evidence.cut`. */
  note: 400,
  /** Playwright's error-context.md. */
  errorContext: 512 * kib,
  /** A script that is searched for its source map, or a source that lines are quoted from. */
  script: 16 * 1024 * kib,
  sourceMap: 32 * 1024 * kib,
  /** A line of a trace that is parsed; of longer ones only the beginning is looked at. */
  traceLine: 8 * 1024 * kib,
  /** The inflated size of what is read from one trace; a million console lines are about 300 MB. */
  traceInflated: 4 * 1024 * 1024 * kib,
} as const;
