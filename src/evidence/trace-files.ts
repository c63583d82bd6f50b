/** The names of what the trace of a failed test shows, in the failure's folder. */
export const traceFiles = {
  /** What the test did and saw, in the order of time. */
  actions: 'actions.md',
  /** The page before the action at which the test failed. */
  treeBefore: 'page-before.yml',
  htmlBefore: 'page-before.html',
  /** The page after it. */
  html: 'page.html',
  /** The trace without secrets, for Playwright's own tools. */
  trace: 'trace.zip',
} as const;
