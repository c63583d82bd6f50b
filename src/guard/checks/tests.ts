import type { Change } from '../change.js';
import { isSameProgram } from '../../code/compare-trees.js';
import type { Project } from '../../code/scope.js';
import { openProject } from '../../code/sources.js';
import type { Findings } from '../findings.js';
import { importedBy, importersOf, type TestCode } from '../test-code.js';
import { isReconnected, isRepaired } from '../repaired.js';
import { compareTests } from '../tests/compare.js';
import { readRoots } from '../tests/roots.js';
import type { Step } from '../tests/step.js';
import { compareConfig } from './config.js';
import { judgeLocators } from './locators.js';

/** If more files than this import a changed helper, they are not read, and the helper is judged on its own. */
const MAX_IMPORTERS = 300;

type Judged = Pick<Findings, 'violations' | 'notes' | 'locatorChanges'>;

/** Compares what the changed test files, and the files that import them, do in both states. */
export function judgeTests({ request, suite, ofTests, old, now }: Change): Judged {
  const changed = ofTests
    .filter((edit) => {
      const [before, after] = [old.parsed.get(edit.path), now.parsed.get(edit.path)];
      if (!before || !after) return !(old.unparsable.has(edit.path) && isRepaired(edit));
      return !isSameProgram(before, after) && !isReconnected(edit, old, now);
    })
    .map((one) => one.path);
  if (changed.length === 0) return { violations: [], notes: [], locatorChanges: [] };
  const importers = new Set([...importersOf(old, changed), ...importersOf(now, changed)]);
  const affected = importers.size > MAX_IMPORTERS ? new Set(changed) : importers;
  const [before, after] = [projectOf(old, affected), projectOf(now, affected)];
  const { violations, replaced } = compareTests(readRoots(before, affected), readRoots(after, affected));
  const { config } = suite;
  const settings = config === null ? [] : compareConfig(config, before, after);
  const located = judgeLocators(replaced, request.pages ?? []);
  const locatorChanges = replaced.map(({ old: was, now: is, after: { file, line, source } }) => {
    return { old: was, now: is, file, line, step: source };
  });
  return {
    violations: [...settings, ...violations, ...located.violations],
    notes: located.notes,
    locatorChanges,
  };
}

/** Returns the steps of everything in these files. */
export function stepsOf(code: TestCode, files: ReadonlySet<string>): Step[] {
  return readRoots(projectOf(code, files), files).flatMap((root) => root.steps);
}

function projectOf(code: TestCode, affected: ReadonlySet<string>): Project {
  const needed = importedBy(code, affected);
  return openProject(
    [...code.parsed.values()].filter((file) => needed.has(file.path)),
    code.importedFile,
  );
}
