import type { Violation } from '../../core/guard/violation.js';
import { violationOf } from '../rules.js';
import { alignSteps, type Alignment } from './align.js';
import { weaknesses } from './strength.js';
import { goesOver } from './reading.js';
import type { Root, Step } from './step.js';

/** A locator that was replaced in an otherwise unchanged step. */
export interface Replacement {
  readonly old: string;
  readonly now: string;
  readonly before: Step;
  readonly after: Step;
}

/** How the tests changed. */
export interface Comparison {
  readonly violations: readonly Violation[];
  readonly replaced: readonly Replacement[];
}

/**
 * Reports changes to the tests that are not proven harmless (HN-3). Harmless are another locator, a stricter or new assertion, a new wait,
 * a lower limit, a removed restriction, and a new test.
 */
export function compareTests(before: readonly Root[], after: readonly Root[]): Comparison {
  const [olds, news] = [byKey(before), byKey(after)];
  const violations: Violation[] = [];
  const kept: Alignment['kept'][number][] = [];
  for (const key of new Set([...news.keys(), ...olds.keys()])) {
    const [old, now] = [olds.get(key), news.get(key)];
    if (!old || !now) violations.push(...(now ? newRoot(now) : old ? missing(old) : []));
    else if (old.kind === 'test' && old.steps.length > 0 && now.steps.length === 0)
      violations.push(violationOf('test-emptied', { ...placed(now), before: old.source, detail: old.title }));
    else {
      const aligned = alignSteps(old.steps, now.steps);
      kept.push(...aligned.kept);
      violations.push(...aligned.lost.flatMap(explain), ...aligned.added.flatMap(newStep));
    }
  }
  return { violations: [...violations, ...absentNow(kept)], replaced: kept.flatMap(replacements) };
}

/** Maps roots by key. Those with the same key are numbered in order. */
function byKey(roots: readonly Root[]): Map<string, Root> {
  const counts = new Map<string, number>();
  return new Map(
    roots.map((root) => {
      const count = (counts.get(root.key) ?? 0) + 1;
      counts.set(root.key, count);
      return [`${root.key} ${count}`, root];
    }),
  );
}

function placed({ file, line, source }: Root | Step) {
  return { file, line, after: source };
}

/** A helper that nothing calls may be removed. A test may not, and one with a new name is a new test. */
function missing(old: Root): Violation[] {
  const { file, line, source: before } = old;
  if (old.kind === 'test') return [violationOf('test-removed', { file, line, before, detail: old.title })];
  const isEffect = (step: Step) => step.kind === 'action' || step.kind === 'assertion';
  if (old.kind === 'function' || !old.steps.some(isEffect)) return [];
  return [violationOf('step-removed', { file, line, before, detail: old.title })];
}

/** A new test may do anything, except what affects other tests. */
function newRoot(now: Root): Violation[] {
  if (now.kind === 'function') return [];
  const isReaching = (step: Step) =>
    step.kind !== 'assertion' &&
    (/^(?:process-ended|patched|expect-replaced)$/.test(step.rule) ||
      `${step.verb} ${step.data}` === 'test only');
  const isOwn = now.kind === 'test' || now.kind === 'describe';
  return now.steps.filter((step) => !isOwn || isReaching(step)).flatMap(newStep);
}

/** Judges an added step. Assertions and waits only demand more. */
function newStep(step: Step): Violation[] {
  const isLow = step.kind === 'limit' && step.timeoutMs !== null && step.timeoutMs <= 5000;
  const isOwn = step.kind === 'assertion' && step.origin === 'playwright';
  if (step.kind === 'wait' || step.kind === 'check' || isLow || isOwn) return [];
  const [rule, detail] =
    step.kind === 'assertion' ? (['expect-replaced', step.origin] as const) : [step.rule, step.verb];
  return [violationOf(rule, { ...placed(step), detail })];
}

function explain({ before, after }: { before: Step; after: Step | null }): Violation[] {
  const mayGo = before.kind === 'limit' || before.kind === 'restriction';
  if (!after) {
    if (mayGo) return [];
    const rule = before.kind === 'assertion' ? 'assertion-removed' : 'step-removed';
    return [violationOf(rule, { file: before.file, line: before.line, before: before.source })];
  }
  if (mayGo && before.kind !== after.kind) return newStep(after);
  return weaknesses(before, after).map(([, rule, detail]) =>
    violationOf(rule, { ...placed(after), before: before.source, detail }),
  );
}

/**
 * "There is no error message" holds for any locator that finds nothing. Such a locator may change only if the same replacement is made in
 * another step, which fails unless it finds something.
 */
function absentNow(kept: Alignment['kept']): Violation[] {
  const proven = kept.filter(([old]) => !mayBeAbsent(old)).flatMap(replacements);
  return kept.flatMap((pair) => {
    const [old, now] = pair;
    if (!mayBeAbsent(old) || replacements(pair).every((one) => isProven(one, proven))) return [];
    return [violationOf('absence-unproven', { ...placed(now), before: old.source })];
  });
}

/** Whether the same replacement is proven, or one of a locator inside it: a test that can click a button in the row has found the row. */
function isProven({ old, now }: Replacement, proven: readonly Replacement[]): boolean {
  return proven.some(
    (one) =>
      (one.old === old && one.now === now) ||
      (one.old.startsWith(`${old}.`) && one.now === now + one.old.slice(old.length)),
  );
}

/** Whether a step also passes if its locators find nothing. */
function mayBeAbsent(step: Step): boolean {
  return step.kind === 'assertion' ? step.negated : step.verb === goesOver;
}

function replacements([before, after]: readonly [Step, Step]): Replacement[] {
  return before.locators.flatMap(({ code: old }, index) => {
    const now = after.locators[index]?.code;
    return now === undefined || now === old ? [] : [{ old, now, before, after }];
  });
}
