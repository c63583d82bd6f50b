import type { DiagnosedFailure } from '../../model/cause.js';
import { failureKey } from '../../model/failure.js';
import { formatTestName } from '../../outputs/wording.js';
import type { ReportCause, ReportTest } from '../../run/report.js';
import type { StoredRun } from '../../run/find-run.js';
import { atMost } from '../../format.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';

/** A failure of an earlier run. */
export interface InspectedFailure {
  readonly failure: DiagnosedFailure;
  /** Its numbers: one for each Playwright run with this failure. */
  readonly numbers: readonly number[];
  /** Null if the run has no report, and for a failure of the suite itself. */
  readonly test: ReportTest | null;
  /** The cause that it was part of, or null (a flaky test has none). */
  readonly cause: ReportCause | null;
}

/** Returns the failures of a run, each once, even if it occurred several times or with different errors. */
export function listFailures(run: StoredRun): InspectedFailure[] {
  const groups = new Map<string, DiagnosedFailure[]>();
  for (const failure of run.failures) {
    const [cause, ...others] = listCauses(run, failure);
    // On a slow machine, the second run of a test may time out with a different error.
    const group = cause && others.length === 0 ? cause.id : failure.signature;
    const key = `${failureKey(failure.failure)} ${group}`;
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.values()].map((same) => createInspectedFailure(run, same));
}

/** Returns the causes that the test of a failure is part of; none for the suite's own failure. */
function listCauses({ report }: StoredRun, { failure }: DiagnosedFailure): readonly ReportCause[] {
  const id = failure.scope === 'test' ? failure.test.id : null;
  return (report?.causes ?? []).filter(({ tests }) => id !== null && tests.includes(id));
}

function createInspectedFailure(run: StoredRun, same: readonly DiagnosedFailure[]): InspectedFailure {
  const { report } = run;
  const findCauseByLead = (failure: DiagnosedFailure) =>
    report?.causes.find(({ evidence }) => evidence === `failures/${failure.n}`);
  const failure = same.find(findCauseByLead) ?? same[0];
  if (!failure) throw new Error('A group has at least one failure');
  const causesOfTest = listCauses(run, failure);
  return {
    failure,
    numbers: same.map(({ n }) => n),
    test: report?.tests.find(({ id }) => id === failureKey(failure.failure)) ?? null,
    cause:
      findCauseByLead(failure) ??
      causesOfTest.find(({ signature }) => signature === failure.signature) ??
      causesOfTest[0] ??
      null,
  };
}

/** True if a failure is the leading one of its cause, or has no cause. */
function isLead({ cause, failure }: InspectedFailure): boolean {
  return cause === null || cause.evidence === `failures/${failure.n}`;
}

/**
 * Finds the failures to which a word refers: a number, the id of a cause (its leading failure), a file with a line, or a part of the title, ignoring
 * case.
 */
export function findMatchingFailures(word: string, all: readonly InspectedFailure[]): InspectedFailure[] {
  const byNumber = all.filter(({ numbers }) => numbers.includes(Number(word)));
  if (byNumber.length > 0) return byNumber;
  const byCause = all.filter((inspected) => inspected.cause?.id === word && isLead(inspected));
  if (byCause.length > 0) return byCause;
  const lowerCase = word.toLowerCase();
  return all.filter((inspected) => formatFailureName(inspected).toLowerCase().includes(lowerCase));
}

const MAX_CHOICES = 20;

/** Finds the one failure to which a word refers or, without a word, the only leading one. None or several are a `Problem` that lists them. */
export function requireOneFailure(
  word: string | null,
  all: readonly InspectedFailure[],
): Result<InspectedFailure, Problem> {
  const leads = all.filter(isLead);
  const matches = word === null ? leads : findMatchingFailures(word, all);
  const [only, ...others] = matches;
  if (only && others.length === 0) return ok(only);
  const choices = (matches.length > 0 ? matches : leads).map(
    (choice) => `  ${choice.failure.n}  ${formatFailureName(choice)}`,
  );
  return err({
    kind: 'usage',
    message:
      word === null ? 'this run has several failures' : `${JSON.stringify(word)} does not name one failure`,
    detail: atMost(choices, MAX_CHOICES, (hidden) => `  … and ${hidden} more`).join('\n'),
    remedy: 'Name a failure by its number.',
  });
}

/** `[project] › file:line › titles`, or the suite. */
export function formatFailureName({ failure: { failure } }: InspectedFailure): string {
  return failure.scope === 'suite' ? 'the suite itself' : formatTestName(failure.test);
}
