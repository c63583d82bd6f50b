import type { Category } from '../../core/diagnosis.js';
import type { Violation } from '../../core/guard/violation.js';
import type { Change } from '../change.js';
import { isCode } from '../../code/imports.js';
import { isSameProgram } from '../../code/compare-trees.js';
import type { FileEdit } from '../edit.js';
import { violationOf } from '../rules.js';
import { isRepaired } from '../repaired.js';
import { whole } from './paths.js';

/** Judges changed test files as a whole: only a ui-error allows changes to the tests (HN-4), and only code can be compared. */
export function judgeReadOnly({ request: { category }, suite, ofTests, old, now }: Change): Violation[] {
  return ofTests.flatMap((edit) => {
    const { path } = edit;
    const [before, after] = [old.parsed.get(path), now.parsed.get(path)];
    // Types have no effect when a test runs, but they count for a build error: they may be what the compiler complains about.
    if (before && after && isSameProgram(before, after, { types: category === 'build-error' })) return [];
    if (now.unparsable.has(path)) return [whole('cannot-be-judged', edit, 'it cannot be parsed')];
    if (!edit.before) return [];
    if (path === suite.config && !after) return [whole('config-changed', edit)];
    if (category !== 'ui-error') return [firstDifference(edit, category)];
    if (!isCode(path)) return [whole('test-data-changed', edit)];
    // A spec that did not parse ran no test. Repairing it loses nothing, as long as all of its code is still there.
    return old.unparsable.has(path) && !isRepaired(edit)
      ? [whole('cannot-be-judged', edit, 'it could not be parsed before')]
      : [];
  });
}

function firstDifference({ path: file, before, after }: FileEdit, category: Category): Violation {
  const [olds = [], news = []] = [before, after].map((one) =>
    one?.text?.split('\n').map((line) => line.trim()),
  );
  const at = olds.findIndex((line, index) => line !== news[index]);
  const index = at === -1 ? olds.length : at;
  const [was = null, is = null] = [olds, news].map((lines) => lines[index]?.slice(0, 200));
  return violationOf('tests-read-only', { file, line: index + 1, before: was, after: is, detail: category });
}
