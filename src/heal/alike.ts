import type { DiagnosedFailure, Cause } from '../model/cause.js';
import { parseComplaint } from '../diagnose/complaint.js';
import type { TestFailure, TestRef } from '../model/failure.js';
import { normalize } from '../diagnose/normalize.js';

/** The maximum number of tests in a group of similar failures that run again to confirm the failures, and without the fix to prove it. */
const MAX_REPRESENTATIVES = 3;

/**
 * Chooses up to three representatives of tests that failed alike: the first of each file, then the second of each, since tests of different files
 * differ the most.
 */
export function chooseRepresentatives(alike: readonly DiagnosedFailure[]): DiagnosedFailure[] {
  const countByFile = new Map<string, number>();
  const withNumbers = alike.map((failure) => {
    const file = failure.failure.scope === 'test' ? failure.failure.test.location.file : '';
    const numberInFile = countByFile.get(file) ?? 0;
    countByFile.set(file, numberInFile + 1);
    return { failure, numberInFile };
  });
  return withNumbers
    .toSorted((a, b) => a.numberInFile - b.numberInFile)
    .slice(0, MAX_REPRESENTATIVES)
    .map(({ failure }) => failure);
}

/**
 * Groups failures that look alike by their errors and Playwright's page snapshots alone: they have the same error, or wait in vain for something on
 * the same page. Whether they have the same cause depends on the evidence of the representatives that run again.
 */
export function groupAlike(failures: readonly DiagnosedFailure[]): DiagnosedFailure[][] {
  const groups: { members: DiagnosedFailure[]; readonly keys: Set<string> }[] = [];
  for (const failure of failures) {
    const keys = listSimilarityKeys(failure);
    const [target, ...merged] = groups.filter((group) => keys.some((key) => group.keys.has(key)));
    if (!target) {
      groups.push({ members: [failure], keys: new Set(keys) });
      continue;
    }
    target.members.push(failure);
    for (const key of keys) target.keys.add(key);
    for (const other of merged) {
      target.members.push(...other.members);
      for (const key of other.keys) target.keys.add(key);
      groups.splice(groups.indexOf(other), 1);
    }
  }
  return groups.map(({ members }) => members.toSorted((a, b) => a.n - b.n));
}

function listSimilarityKeys({ failure, signature, evidence }: DiagnosedFailure): string[] {
  if (failure.scope === 'suite') return ['suite'];
  const { kind } = parseComplaint(evidence.errors);
  const waits = kind === 'missing' || kind === 'timeout' || kind === 'no-answer';
  const page = waits && evidence.ariaSnapshot !== null ? normalize(evidence.ariaSnapshot) : null;
  return [signature, ...(page === null ? [] : [`page | ${page}`])];
}

/** A test that was green, and how long it took, in milliseconds. */
export interface GreenTest {
  readonly test: TestRef;
  readonly durationMs: number;
  /** When its first try started, in epoch milliseconds; absent if unknown. */
  readonly firstTry?: { readonly startedAt: number };
}

const MAX_NEIGHBORS = 2;
/** A longer neighbor would slow the confirming run down too much. */
const MAX_NEIGHBOR_MS = 15_000;

/**
 * Chooses one or two green tests of each file with failures: events that also occur in green tests do not explain the failures. Prefers tests that ran
 * after the failing one, since earlier tests may be the reason for its failure, then tests that share most of its describe blocks, then those next to
 * it. If a file has no green test, chooses the shortest later test of another file.
 */
export function chooseNeighbors(
  failures: readonly DiagnosedFailure[],
  green: readonly GreenTest[],
): readonly string[] {
  const files = new Map<string, TestFailure>();
  for (const { failure } of failures)
    if (failure.scope === 'test')
      files.set(getFile(failure.test), files.get(getFile(failure.test)) ?? failure);
  return [...files].flatMap(([file, failed]) => {
    const { test: failing } = failed;
    const shortTests = green.filter(({ durationMs }) => durationMs <= MAX_NEIGHBOR_MS);
    const inSameFile = shortTests.filter(({ test }) => getFile(test) === file);
    if (inSameFile.length === 0)
      return shortTests
        .filter((test) => test.test.project === failing.project && !ranBefore(failed, test))
        .toSorted((a, b) => a.durationMs - b.durationMs)
        .slice(0, 1)
        .map(({ test }) => test.id);
    const countShared = ({ test }: GreenTest) =>
      test.titlePath.slice(0, -1).filter((title, n) => failing.titlePath[n] === title).length;
    const distanceTo = ({ test }: GreenTest) => Math.abs(test.location.line - failing.location.line);
    const later = inSameFile.filter((test) => !ranBefore(failed, test));
    return (later.length > 0 ? later : inSameFile)
      .toSorted((a, b) => countShared(b) - countShared(a) || distanceTo(a) - distanceTo(b))
      .slice(0, MAX_NEIGHBORS)
      .map(({ test }) => test.id);
  });
}

/** True if a test had begun when another failed. */
export function ranBefore(failed: TestFailure, { firstTry }: Pick<GreenTest, 'firstTry'>): boolean {
  return firstTry !== undefined && firstTry.startedAt < failed.startedAt + failed.durationMs;
}

function getFile({ project, location }: TestRef): string {
  return `${project} ${location.file}`;
}

/** Chooses the tests of a cause that also run without its fix (HL-6): the lead and two others, from other files if possible. With the fix, all run. */
export function chooseTestsToRunWithoutFix({ lead, members }: Cause): Set<DiagnosedFailure> {
  const others = members.filter((member) => member !== lead);
  // Prefers tests that ran again, because their evidence is complete.
  const sorted = others.toSorted((a, b) => Number(a.like !== undefined) - Number(b.like !== undefined));
  return new Set(chooseRepresentatives([lead, ...sorted]));
}
