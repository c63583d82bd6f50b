const kib = 1024;

/** How large each part of the evidence may be (EV-11): bytes of UTF-8, unless the name says otherwise. */
export const bounds = {
  /** One error's message, and one error's stack. */
  errorText: 16 * kib,
  snippet: 8 * kib,
  cause: 4 * kib,
  errorCount: 20,
  causeCount: 10,
  consoleText: 2 * kib,
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
  /** An error-context.md of Playwright. */
  errorContext: 512 * kib,
  /** A script that is looked through for its source map, and a source that lines are quoted of. */
  script: 16 * 1024 * kib,
  sourceMap: 32 * 1024 * kib,
  /** A capture file; what workers keep comes to some 40 MiB at most. */
  capture: 128 * 1024 * kib,
  /** One line of a trace that is read whole; longer ones (DOM snapshots, mostly) are only looked at. */
  traceLine: 1024 * kib,
  /** What is inflated of one trace; a million console lines are some 300 MB. */
  traceInflated: 4 * 1024 * 1024 * kib,
} as const;
