import { alignSteps, type Alignment } from './align-steps.js';
import { weaknesses } from './is-as-strong.js';
import type { AssertionStep, Root, Step } from './outline.js';
import type { Violation } from './violation.js';

/** What became weaker in the tests themselves: tests that are gone or empty, and steps that check less (HN-3). */
export function compareTests(before: readonly Root[], after: readonly Root[]): Violation[] {
  const found: Violation[] = [];
  const aligned: Alignment[] = [];
  const newByKey = byKey(after);
  for (const [key, olds] of byKey(before)) {
    const news = newByKey.get(key) ?? [];
    olds.forEach((old, index) => {
      const now = news[index];
      if (!now) found.push(...missing(old, after));
      else if (old.steps.length > 0 && now.steps.length === 0 && old.kind === 'test')
        found.push(emptied(old, now));
      else {
        const alignment = alignSteps(old.steps, now.steps);
        aligned.push(alignment);
        found.push(...alignment.lost.flatMap((lost) => explain(lost.before, lost.after)));
        found.push(...navigations(old, alignment.added));
      }
    });
  }
  return [...found, ...absentNow(aligned)];
}

function byKey(roots: readonly Root[]): Map<string, Root[]> {
  const groups = new Map<string, Root[]>();
  for (const root of roots) {
    const group = groups.get(root.key);
    if (group) group.push(root);
    else groups.set(root.key, [root]);
  }
  return groups;
}

/** A helper that nobody calls may go; a test may not, and a new name is a new test. */
function missing(old: Root, after: readonly Root[]): Violation[] {
  if (old.kind !== 'test') return [];
  const says = after.some((one) => one.file === old.file)
    ? `the test "${old.title}" is gone, or has another name`
    : `the file with the test "${old.title}" is gone, or has another name`;
  return [{ rule: 'test-removed', file: old.file, line: old.line, before: old.source, after: null, says }];
}

/** A page that a test opens by itself is not one that the app led it to. */
function navigations(old: Root, added: readonly Step[]): Violation[] {
  const known = new Set(old.steps.map(navigation));
  return added.flatMap((step) => {
    if (navigation(step) === null || known.has(navigation(step))) return [];
    const { file, line, source } = step;
    const says = 'the test opens a page by itself now that the app should have led it to';
    return [{ rule: 'navigation-added', file, line, before: null, after: source, says }];
  });
}

function navigation(step: Step): string | null {
  return step.kind === 'action' && step.verb === 'goto' ? step.data : null;
}

function emptied(old: Root, now: Root): Violation {
  const says = `the test "${old.title}" does nothing now`;
  return {
    rule: 'test-emptied',
    file: now.file,
    line: now.line,
    before: old.source,
    after: now.source,
    says,
  };
}

function explain(before: Step, after: Step | null): Violation[] {
  if (!after) {
    const rule = before.kind === 'assertion' ? 'assertion-removed' : 'step-removed';
    const says =
      before.kind === 'assertion'
        ? 'an assertion is gone, or no longer reached'
        : 'a step of the test is gone, or no longer reached';
    return [{ rule, file: before.file, line: before.line, before: before.source, after: null, says }];
  }
  return weaknesses(before, after).map(({ rule, says }) => ({
    rule,
    file: after.file,
    line: after.line,
    before: before.source,
    after: after.source,
    says,
  }));
}

/**
 * "There is no error message" holds for any locator that finds nothing: such a locator may only change where the same
 * change is made, and has to find something, elsewhere.
 */
function absentNow(aligned: readonly Alignment[]): Violation[] {
  const pairs = aligned.flatMap((one) => one.kept);
  const proven = pairs.filter(([old]) => !isNegated(old)).flatMap(replacements);
  return pairs
    .filter(([old]) => isNegated(old))
    .flatMap((pair) => {
      const [old, now] = pair;
      if (replacements(pair).every((one) => isProven(one, proven))) return [];
      const says =
        'a locator that must find nothing was changed, and nothing shows that the new one can find anything';
      return [
        {
          rule: 'absence-unproven',
          file: now.file,
          line: now.line,
          before: old.source,
          after: now.source,
          says,
        },
      ];
    });
}

/** The replacement itself, or one of a locator inside it: who can click a button in the row has found the row. */
function isProven([old, now]: Replacement, proven: readonly Replacement[]): boolean {
  return proven.some(
    ([from, to]) =>
      (from === old && to === now) || (from.startsWith(`${old}.`) && to === now + from.slice(old.length)),
  );
}

function isNegated(step: Step): step is AssertionStep {
  return step.kind === 'assertion' && step.negated;
}

type Replacement = readonly [before: string, after: string];

function replacements([old, now]: readonly [Step, Step]): Replacement[] {
  return old.locators.flatMap(({ code }, index) => {
    const other = now.locators[index]?.code;
    return other === undefined || other === code ? [] : [[code, other] as const];
  });
}
