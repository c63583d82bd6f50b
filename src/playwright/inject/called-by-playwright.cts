/**
 * Whether the code that called `file` is Playwright's: the user's code may start processes as well, and the caller nearest to
 * Node's own code decides.
 */
function isCalledByPlaywright(file: string): boolean {
  const ours = new Set([file, __filename]);
  const caller = callers().find((name) => !name.startsWith('node:') && !ours.has(name));
  return /[\\/]playwright(?:-core)?[\\/]lib[\\/]/.test(caller ?? '');
}

function callers(): string[] {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  try {
    Error.stackTraceLimit = 20;
    Error.prepareStackTrace = (_error, sites) => sites.map((site) => site.getFileName() ?? 'node:');
    return new Error('who calls').stack as unknown as string[];
  } finally {
    Reflect.set(Error, 'prepareStackTrace', prepareStackTrace);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const api = { isCalledByPlaywright };
module.exports = api;
export type Api = typeof api;
