import type { Category } from '../../core/diagnosis.js';
import type { PathChange } from '../../core/guard/judge-paths.js';
import type { Violation } from '../../core/guard/violation.js';
import { isCode } from './resolve-import.js';
import { isSameProgram } from './same-program.js';
import type { SourceFile } from './syntax.js';
import type { TestCode } from './test-files.js';

/** Changed test files and the test code of both states. */
export interface TestFilesRequest {
  readonly category: Category;
  readonly changes: readonly PathChange[];
  readonly old: TestCode;
  readonly now: TestCode;
  /** The Playwright config, and whether its settings could be read from its code. */
  readonly config: { readonly path: string | null; readonly isRead: boolean };
}

/** Classes whose causes lie in the app: their tests are read-only (HN-4). What nobody understands may be a locator. */
const readOnly: Readonly<Record<Category, boolean>> = {
  'build-error': true,
  'database-error': true,
  'runtime-error': true,
  'network-error': true,
  'ui-error': false,
  unknown: false,
};

/** What is wrong with a changed test file as a whole, whatever stands in it. */
export function judgeTestFiles({ category, changes, old, now, config }: TestFilesRequest): Violation[] {
  return changes.flatMap((change) => {
    const { path } = change;
    const unparsable = [...now.unparsable, ...(change.after ? old.unparsable : [])];
    if (unparsable.includes(path))
      return [
        whole(change, 'cannot-be-judged', 'the test file does not parse, so nobody can say what it checks'),
      ];
    const [before, after] = [fileIn(old, path), fileIn(now, path)];
    if (!change.before || (before && after && isSameProgram(before, after))) return [];
    if (path === config.path && (!after || !config.isRead))
      return [whole(change, 'config-changed', 'the Playwright config was changed')];
    if (readOnly[category])
      return [
        lineOf(change, { before, after, says: `the tests are read-only for a ${category}: mend the app` }),
      ];
    return isCode(path) ? [] : [whole(change, 'test-data-changed', 'a file that the tests use was changed')];
  });
}

function fileIn({ parsed }: TestCode, path: string): SourceFile | null {
  return parsed.find((one) => one.path === path) ?? null;
}

function whole({ path, before, after }: PathChange, rule: string, says: string): Violation {
  return { rule, file: path, line: null, before: before ? path : null, after: after ? path : null, says };
}

/** The first line that differs. */
function lineOf(
  change: PathChange,
  { before, after, says }: { before: SourceFile | null; after: SourceFile | null; says: string },
): Violation {
  if (!before || !after) return whole(change, 'tests-read-only', says);
  const [olds, news] = [before.text.split('\n'), after.text.split('\n')];
  const index = olds.findIndex((line, at) => line.trim() !== news[at]?.trim());
  const at = index === -1 ? olds.length : index;
  return {
    rule: 'tests-read-only',
    file: change.path,
    line: at + 1,
    before: olds[at]?.trim().slice(0, 200) ?? null,
    after: news[at]?.trim().slice(0, 200) ?? null,
    says,
  };
}
