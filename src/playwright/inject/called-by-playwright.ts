import path from 'node:path';

/**
 * Whether Playwright is the caller, since user code may start processes as well. The first caller outside of Node's own
 * code and of this folder decides.
 */
export function isCalledByPlaywright(): boolean {
  const caller = callers().find(
    (name) => !name.startsWith('node:') && path.dirname(name) !== import.meta.dirname,
  );
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
