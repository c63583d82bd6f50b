import type { DiagnosedFailure } from '../../model/cause.js';
import { failureKey } from '../../model/failure.js';
import { formatTestName } from '../../outputs/wording.js';
import type { ReportCause, ReportTest } from '../../run/report.js';
import type { StoredRun } from '../../run/find-run.js';
import { atMost } from '../../format.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';

/** A failure of an earlier run, and its outcome there. */
export interface InspectedFailure {
  readonly failure: DiagnosedFailure;
  /** The numbers of the same failure in the first and in later Playwright runs. */
  readonly numbers: readonly number[];
  /** Null if the run has no report, and for the suite's own failure. */
  readonly test: ReportTest | null;
  /** The cause that it was part of, or null (a flaky test has none). */
  readonly cause: ReportCause | null;
}

/** Returns the failures of a run with their outcomes, each once, however often and with however different errors the run saw it. */
export function failuresOf(run: StoredRun): InspectedFailure[] {
  const groups = new Map<string, DiagnosedFailure[]>();
  for (const failure of run.failures) {
    const [cause, ...others] = causesOf(run, failure);
    // On a slow machine, a test may time out with other errors when it is run again.
    const same = cause && others.length === 0 ? cause.id : failure.signature;
    const key = `${failureKey(failure.failure)} ${same}`;
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.values()].map((same) => inspectedOf(run, same));
}

/** Returns the causes that the test of a failure is part of; none for the suite's own failure. */
function causesOf({ report }: StoredRun, { failure }: DiagnosedFailure): readonly ReportCause[] {
  const id = failure.scope === 'test' ? failure.test.id : null;
  return (report?.causes ?? []).filter(({ tests }) => id !== null && tests.includes(id));
}

function inspectedOf(run: StoredRun, same: readonly DiagnosedFailure[]): InspectedFailure {
  const { report } = run;
  const leads = (failure: DiagnosedFailure) =>
    report?.causes.find(({ evidence }) => evidence === `failures/${failure.n}`);
  const failure = same.find(leads) ?? same[0];
  if (!failure) throw new Error('A group has at least one failure');
  const sharing = causesOf(run, failure);
  return {
    failure,
    numbers: same.map(({ n }) => n),
    test: report?.tests.find(({ id }) => id === failureKey(failure.failure)) ?? null,
    cause:
      leads(failure) ??
      sharing.find(({ signature }) => signature === failure.signature) ??
      sharing[0] ??
      null,
  };
}

/** Whether a failure led its cause, or has none. */
function isLead({ cause, failure }: InspectedFailure): boolean {
  return cause === null || cause.evidence === `failures/${failure.n}`;
}

/**
 * Finds the failures that a word refers to: by number, by the id of a cause (its leading failure), by a file with a line, or by part of the
 * title in any case.
 */
export function matchingFailures(word: string, all: readonly InspectedFailure[]): InspectedFailure[] {
  const byNumber = all.filter(({ numbers }) => numbers.includes(Number(word)));
  if (byNumber.length > 0) return byNumber;
  const byCause = all.filter((inspected) => inspected.cause?.id === word && isLead(inspected));
  if (byCause.length > 0) return byCause;
  const lowerCase = word.toLowerCase();
  return all.filter((inspected) => failureName(inspected).toLowerCase().includes(lowerCase));
}

const CHOICES = 20;

/** Finds the only failure that a word refers to, or the only leading one without a word; any other number is a `Problem` that lists them. */
export function onlyFailure(
  word: string | null,
  all: readonly InspectedFailure[],
): Result<InspectedFailure, Problem> {
  const leads = all.filter(isLead);
  const matches = word === null ? leads : matchingFailures(word, all);
  const [only, ...others] = matches;
  if (only && others.length === 0) return ok(only);
  const choices = (matches.length > 0 ? matches : leads).map(
    (choice) => `  ${choice.failure.n}  ${failureName(choice)}`,
  );
  return err({
    kind: 'usage',
    message:
      word === null ? 'this run has several failures' : `${JSON.stringify(word)} does not name one failure`,
    detail: atMost(choices, CHOICES, (hidden) => `  … and ${hidden} more`).join('\n'),
    remedy: 'Name a failure by its number.',
  });
}

/** `[project] › file:line › titles`, or the suite. */
export function failureName({ failure: { failure } }: InspectedFailure): string {
  return failure.scope === 'suite' ? 'the suite itself' : formatTestName(failure.test);
}
