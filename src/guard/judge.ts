import type { Violation } from '../model/guard-findings.js';
import { judgeApp } from './app.js';
import { readGuardedChange } from './change.js';
import { compareTests } from './compare-tests.js';
import { type GuardFindings, harmless, type TestDifference } from './findings.js';
import type { GuardRequest } from './request.js';
import { createViolation } from './rules.js';
import { explainHiding } from './hidden-flake.js';

/** Judges a change: cuts forbidden edits, compares the tests, and finds dishonest changes of the app (HN-3, HN-4). */
export async function judgeChange(request: GuardRequest): Promise<GuardFindings> {
  try {
    const change = await readGuardedChange(request);
    if (!change) return harmless;
    const isFlaky = request.category === 'flaky';
    const { now, ofTests, cutTests } = change;
    const comparison = compareTests({ now, ofTests: [...ofTests, ...cutTests] }, isFlaky);
    return {
      differences: comparison.differences,
      locatorChanges: comparison.locatorChanges.filter((change) =>
        ofTests.some(({ path }) => path === change.file),
      ),
      cut: change.cut,
      violations: [...judgeApp(change), ...(isFlaky ? comparison.differences.flatMap(findHidingChange) : [])],
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const detail = 'the tests are nested too deeply to judge';
    return {
      ...harmless,
      violations: [createViolation('cannot-be-judged', { file: request.changes[0]?.path ?? '', detail })],
    };
  }
}

/** Finds changes that hide a flake instead of removing it (FL-3). */
function findHidingChange({ file, line, strength, before, after }: TestDifference): Violation[] {
  const detail = explainHiding(before, after) ?? (strength === 'weaker' ? 'it checks less' : null);
  const joinSteps = (steps: readonly string[]) => steps.join('; ').slice(0, 200) || null;
  const finding = { file, line, before: joinSteps(before), after: joinSteps(after) };
  return detail === null ? [] : [createViolation('flake-hidden', { ...finding, detail })];
}
