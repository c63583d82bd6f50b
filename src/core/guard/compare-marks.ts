import type { Mark } from './outline.js';
import type { Violation } from './violation.js';

/** What each family of marks is, in words. */
const families: Readonly<Record<string, string>> = {
  'test-modifier': 'skip, fixme, fail, only and slow keep tests from running or from failing',
  'timeout-raised': 'a time-out was set or raised',
  'retries-raised': 'retries were set or raised',
  'run-option': 'an option of the tests was changed',
  'mocked-route': 'a request is answered by the test instead of the app',
  'page-rewritten': 'the test changes the page by script',
  'process-ended': 'the test ends or overhears its own process',
  patched: 'something that the tests rely on is replaced',
  'expect-replaced': 'test or expect is no longer Playwright’s own, or is set up otherwise',
  'app-detects-tests': 'the app asks whether it is tested',
  'fixture-overridden': 'a fixture of Playwright is overridden',
};

/** Marks that are new, or that were raised: moved from one file to another they are neither. */
export function compareMarks(before: readonly Mark[], after: readonly Mark[]): Violation[] {
  const left = [...before];
  return after.flatMap((mark) => {
    const index = left.findIndex((old) => isSame(old, mark));
    if (index !== -1) {
      left.splice(index, 1);
      return [];
    }
    const { family, file, line, source } = mark;
    const raised = before.find(
      (old) => old.family === family && old.text === mark.text && mark.amount !== null,
    );
    const says = `${families[family] ?? family} (${mark.text})`;
    return [{ rule: family, file, line, before: raised?.source ?? null, after: source, says }];
  });
}

function isSame(old: Mark, now: Mark): boolean {
  if (old.family !== now.family || old.text !== now.text) return false;
  return old.amount === null || now.amount === null ? old.amount === now.amount : now.amount <= old.amount;
}
