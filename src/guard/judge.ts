import type { Violation } from '../model/guard-findings.js';
import { judgeApp } from './app.js';
import { readGuardedChange } from './change.js';
import { compareTests } from './compare-tests.js';
import { type GuardFindings, harmless, type TestDifference } from './findings.js';
import type { GuardRequest } from './request.js';
import { violationOf } from './rules.js';
import { hidesFlake } from './hidden-flake.js';

/** Judges a change: cuts what may not enter, compares what the tests do, and names what is dishonest in the app (HN-3, HN-4). */
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
      violations: [...judgeApp(change), ...(isFlaky ? comparison.differences.flatMap(hidden) : [])],
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const detail = 'the tests are nested too deeply to judge';
    return {
      ...harmless,
      violations: [violationOf('cannot-be-judged', { file: request.changes[0]?.path ?? '', detail })],
    };
  }
}

/** A flake that is no longer seen is not gone (FL-3). */
function hidden({ file, line, strength, before, after }: TestDifference): Violation[] {
  const detail = hidesFlake(before, after) ?? (strength === 'weaker' ? 'it checks less' : null);
  const excerpt = (steps: readonly string[]) => steps.join('; ').slice(0, 200) || null;
  const finding = { file, line, before: excerpt(before), after: excerpt(after) };
  return detail === null ? [] : [violationOf('flake-hidden', { ...finding, detail })];
}
