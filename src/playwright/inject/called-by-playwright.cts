const path = require('node:path') as typeof import('node:path');

/**
 * Whether it is Playwright that calls: the user's code may start processes as well, and the caller nearest to Node's own
 * code decides. The files of this folder, which stand in between, are no callers.
 */
function isCalledByPlaywright(): boolean {
  const caller = callers().find((name) => !name.startsWith('node:') && path.dirname(name) !== __dirname);
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
