import type { DiagnosedFailure, Cause } from '../model/cause.js';
import { parseComplaint } from '../diagnose/complaint.js';
import type { TestFailure, TestRef } from '../model/failure.js';
import { normalise } from '../diagnose/normalise.js';

/** How many of the tests that failed alike are run again to confirm them, and run without their fix to prove it. */
const MAX_SHOWN = 3;

/**
 * Chooses the tests that stand for others that failed alike: the first of each file, then the second of each, since tests of other files
 * differ the most; at most three.
 */
export function chooseShown(alike: readonly DiagnosedFailure[]): DiagnosedFailure[] {
  const met = new Map<string, number>();
  const turns = alike.map((failure) => {
    const file = failure.failure.scope === 'test' ? failure.failure.test.location.file : '';
    const turn = met.get(file) ?? 0;
    met.set(file, turn + 1);
    return { one: failure, turn };
  });
  return turns
    .toSorted((a, b) => a.turn - b.turn)
    .slice(0, MAX_SHOWN)
    .map(({ one }) => one);
}

/**
 * Groups failures that look alike before anything but their errors and Playwright's snapshot of the page is known: they fail of the same error, or
 * wait in vain for something on the same page. The evidence of those that are run again decides whether they have the same cause.
 */
export function groupAlike(failures: readonly DiagnosedFailure[]): DiagnosedFailure[][] {
  const groups: { members: DiagnosedFailure[]; readonly keys: Set<string> }[] = [];
  for (const failure of failures) {
    const keys = alikeKeys(failure);
    const [home, ...linked] = groups.filter((group) => keys.some((key) => group.keys.has(key)));
    if (!home) {
      groups.push({ members: [failure], keys: new Set(keys) });
      continue;
    }
    home.members.push(failure);
    for (const key of keys) home.keys.add(key);
    for (const other of linked) {
      home.members.push(...other.members);
      for (const key of other.keys) home.keys.add(key);
      groups.splice(groups.indexOf(other), 1);
    }
  }
  return groups.map(({ members }) => members.toSorted((a, b) => a.n - b.n));
}

function alikeKeys({ failure, signature, evidence }: DiagnosedFailure): string[] {
  if (failure.scope === 'suite') return ['suite'];
  const { kind } = parseComplaint(evidence.errors);
  const waits = kind === 'missing' || kind === 'timeout' || kind === 'no-answer';
  const page = waits && evidence.ariaSnapshot !== null ? normalise(evidence.ariaSnapshot) : null;
  return [signature, ...(page === null ? [] : [`page | ${page}`])];
}

/** A test that was green, and how long it took, in milliseconds. */
export interface GreenTest {
  readonly test: TestRef;
  readonly durationMs: number;
  /** When its first try started, in epoch milliseconds; absent if that is not known. */
  readonly firstTry?: { readonly startedAt: number };
}

const MAX_NEIGHBOURS = 2;
/** A neighbour that takes longer would hold up the confirming run. */
const MAX_NEIGHBOUR_MS = 15_000;

/**
 * Chooses one or two green tests of each file with failures: what happens in them, too, does not explain the failures. Those that share most of a
 * failing test's describe blocks come first, then those next to it. Tests that ran after it are preferred, since it may fail because of what ran
 * before it. For a file without green tests, the shortest of the later ones stands in.
 */
export function chooseNeighbours(
  failures: readonly DiagnosedFailure[],
  green: readonly GreenTest[],
): readonly string[] {
  const files = new Map<string, TestFailure>();
  for (const { failure } of failures)
    if (failure.scope === 'test') files.set(fileOf(failure.test), files.get(fileOf(failure.test)) ?? failure);
  return [...files].flatMap(([file, failed]) => {
    const { test: failing } = failed;
    const short = green.filter(({ durationMs }) => durationMs <= MAX_NEIGHBOUR_MS);
    const near = short.filter(({ test }) => fileOf(test) === file);
    if (near.length === 0)
      return short
        .filter((test) => test.test.project === failing.project && !ranBefore(failed, test))
        .toSorted((a, b) => a.durationMs - b.durationMs)
        .slice(0, 1)
        .map(({ test }) => test.id);
    const shared = ({ test }: GreenTest) =>
      test.titlePath.slice(0, -1).filter((title, n) => failing.titlePath[n] === title).length;
    const distance = ({ test }: GreenTest) => Math.abs(test.location.line - failing.location.line);
    const after = near.filter((test) => !ranBefore(failed, test));
    return (after.length > 0 ? after : near)
      .toSorted((a, b) => shared(b) - shared(a) || distance(a) - distance(b))
      .slice(0, MAX_NEIGHBOURS)
      .map(({ test }) => test.id);
  });
}

/** Whether a test had begun when another failed. */
export function ranBefore(failed: TestFailure, { firstTry }: Pick<GreenTest, 'firstTry'>): boolean {
  return firstTry !== undefined && firstTry.startedAt < failed.startedAt + failed.durationMs;
}

function fileOf({ project, location }: TestRef): string {
  return `${project} ${location.file}`;
}

/**
 * Chooses the tests of a cause that are run without its fix (HL-6): the lead and two others, from other files if there are any. They stand for
 * all its tests; with the fix, every test is run.
 */
export function chooseTestsToRunWithoutFix({ lead, members }: Cause): Set<DiagnosedFailure> {
  // Those that were run again before are known best.
  const others = members.filter((member) => member !== lead);
  const known = others.toSorted((a, b) => Number(a.like !== undefined) - Number(b.like !== undefined));
  return new Set(chooseShown([lead, ...known]));
}
