import type { Violation } from '../model/guard-findings.js';
import { judgeApp } from './app.js';
import { readGuardedChange } from './change.js';
import { compareTests } from './compare-tests.js';
import { type GuardFindings, noFindings, type TestDifference } from './findings.js';
import type { GuardRequest } from './request.js';
import { createViolation } from './rules.js';

/** Judges a change: cuts forbidden edits, compares the tests, and finds dishonest changes to the app (HN-3, HN-4). */
export async function judgeChange(request: GuardRequest): Promise<GuardFindings> {
  try {
    const change = await readGuardedChange(request);
    if (!change) return noFindings;
    const isFlaky = request.category === 'flaky';
    const { now, testEdits, cutTestEdits } = change;
    const comparison = compareTests({ now, testEdits: [...testEdits, ...cutTestEdits] }, isFlaky);
    return {
      differences: comparison.differences,
      locatorChanges: comparison.locatorChanges.filter((change) =>
        testEdits.some(({ path }) => path === change.file),
      ),
      cut: change.cut,
      violations: [...judgeApp(change), ...(isFlaky ? comparison.differences.flatMap(findHidingChange) : [])],
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const detail = 'the tests are nested too deeply to judge';
    return {
      ...noFindings,
      violations: [createViolation('cannot-be-judged', { file: request.changes[0]?.path ?? '', detail })],
    };
  }
}

/** Code that hides a flake, and how it does so. */
const hidingCode: readonly (readonly [RegExp, string])[] = [
  [
    /\bwaitForTimeout\(|(?<!test\.|info\(\)\.)\bset(?:Timeout|Interval)\(|\bsleep\w*\(|\bdelay\w*\(|Atomics\.wait/i,
    'it sleeps',
  ],
  [/\btimeout:|\bsetTimeout\(|\bslow\(|\bsetDefault\w*Timeout\(/, 'it raises a timeout'],
  [/\bretries:|\bretry\b|\btoPass\(/, 'it retries until it passes'],
  [/mode: ["'`]serial|\.serial\b/, 'it runs tests one after the other'],
  [/\.(?:skip|fixme|fail|only)\b/, 'it skips tests or expects them to fail'],
  [/\bexpect\.soft\b/, 'it uses soft assertions'],
  [/["'`]networkidle/, 'it waits until the network is idle'],
  [/\bcatch\b/, 'it swallows errors'],
];

/** Finds a change that hides a flake instead of fixing it (FL-3). */
function findHidingChange({ file, line, strength, before, after }: TestDifference): Violation[] {
  const count = (steps: readonly string[], code: RegExp) => steps.filter((step) => code.test(step)).length;
  const [, reason] = hidingCode.find(([code]) => count(after, code) > count(before, code)) ?? [];
  const detail = reason ?? (strength === 'weaker' ? 'it checks less' : null);
  const joinSteps = (steps: readonly string[]) => steps.join('; ').slice(0, 200) || null;
  const finding = { file, line, before: joinSteps(before), after: joinSteps(after) };
  return detail === null ? [] : [createViolation('flake-hidden', { ...finding, detail })];
}
