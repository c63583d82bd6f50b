import type { TestError, TestFailure } from '../core/failure.js';

/**
 * What Playwright does not report: a test that ends while an action is under way (in a `Promise.all` beside a wait that gave
 * up first, say) has no error of that action. `covered` is what was seen to lie over its element.
 */
export function unfinishedErrors(
  { unfinished = [], errors }: Pick<TestFailure, 'unfinished' | 'errors'>,
  covered: string | null,
): TestError[] {
  const location = errors.find((error) => error.location)?.location ?? null;
  const untold = unfinished.filter((action) => {
    const locator = action.slice(action.search(/(?:locator|getBy\w+|frameLocator)\(/));
    return !errors.some(({ message }) => message.includes(locator));
  });
  return untold.map((action, index) => {
    const isLast = index === untold.length - 1;
    const why = isLast && covered !== null ? `: ${covered} lies over it` : '';
    return {
      message: `Error: ${action} had not finished when the test ended${why}`,
      stack: null,
      snippet: null,
      location,
      causes: [],
    };
  });
}
