import { coverIn } from '../core/complaint.js';
import { plainError, type TestError, type TestFailure } from '../core/failure.js';

/**
 * Returns errors that Playwright does not report: if a test ends while an action is in progress (in a `Promise.all` with
 * a wait that fails first, for example), that action has no error. `log` is what the last of them did, as a trace says it.
 */
export function unfinishedErrors(
  { unfinished = [], errors }: Pick<TestFailure, 'unfinished' | 'errors'>,
  log: readonly string[],
): TestError[] {
  const location = errors.find((error) => error.location)?.location ?? null;
  const untold = unfinished.filter((action) => {
    const locator = action.slice(action.search(/(?:locator|getBy\w+|frameLocator)\(/));
    return !errors.some(({ message }) => message.includes(locator));
  });
  const covered = coverIn(log.findLast((line) => line.includes('intercepts pointer events')) ?? '');
  return untold.map((action, index) => {
    const isLast = index === untold.length - 1;
    const why = isLast && covered !== null ? `: ${covered} lies over it` : '';
    return plainError(`Error: ${action} had not finished when the test ended${why}`, location);
  });
}
