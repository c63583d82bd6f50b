import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from '../model/cause.js';
import { failureKey, createPlainError, listTests } from '../model/failure.js';
import type { Reason } from '../model/diagnosis.js';
import type { Observation } from './judge.js';
import type { SuitePurpose } from '../event.js';
import { type PassingTest, readPassingTrace, findRemainingReasons } from '../evidence/passing-tests.js';
import { isTracedTwice, createEmptyRun, type SuiteRun } from '../playwright/suite-run.js';
import { observeFailure, observeRun, findSuiteFailure } from './observations.js';
import type { ProofPart } from './proof-question.js';
import type { Session } from './session.js';
import { announceTests } from './announce-tests.js';
import { afterName } from '../run/pictures.js';
import type { RunFolder } from '../run/run-folder.js';

/** The result of re-running some failures. */
export interface Retest {
  observe(failure: DiagnosedFailure): Observation;
  /** Further failures in the re-run, such as dependents of a setup test. */
  readonly others: readonly DiagnosedFailure[];
  readonly suiteFailure: DiagnosedFailure | null;
  /** For each test that passed, the evidence for the class of its failure that this run still contained. */
  readonly remainingReasons: ReadonlyMap<DiagnosedFailure, readonly Reason[]>;
  /** Null if `verify.prepare` failed and nothing was run. */
  readonly run: SuiteRun | null;
}

/** The failures to re-run, and the purpose. */
export interface RetestRequest {
  readonly failures: readonly DiagnosedFailure[];
  readonly purpose: SuitePurpose;
  readonly causeId: string | null;
  /** Test ids to run instead of the failures' own: one test is enough to show the suite's own failure. */
  readonly ids?: readonly string[];
  /** The part of the proof, and the changes that were reverted for it; absent before the proof. */
  readonly proof?: { readonly part: ProofPart; readonly without: readonly string[] };
}

/** Re-runs exactly the given failures from scratch, after `verify.prepare` (HL-1, HL-9), or the whole selection if the suite itself failed (CS-10). */
export async function retest(session: Session, request: RetestRequest): Promise<Retest> {
  const { failures, purpose, causeId, proof } = request;
  const prepareOutput = await session.suite.prepare();
  if (prepareOutput !== null) return createUnpreparedRetest(session, request, prepareOutput);
  const red = listTests(failures).length;
  const ids = request.ids ?? listRerunIds(failures);
  const traced = await session.suite.rerun({ ids, purpose, causeId, ...(red > 0 ? { red } : {}) });
  const { run, repeated } = await repeatUndecided(session, traced, request);
  const green = await readGreenTests(failures, run);
  if (purpose === 'retest') await saveGreenPictures(session.folder, green);
  const errorCounts = new Map([...green].map(([failure, passed]) => [failure, passed.errorCounts]));
  const remainingReasons = await findRemainingReasons(errorCounts, run);
  const diagnosed = [
    ...(await session.diagnostics.diagnose(run)),
    ...(repeated ? await session.diagnostics.diagnose(repeated) : []),
  ];
  const diagnosedRun = {
    run: repeated ? { ...run, tests: [...run.tests, ...repeated.tests] } : run,
    failures: diagnosed,
    allowedAbsences: session.observations.allowedAbsences,
  };
  // An interrupted run shows nothing.
  if (!session.signal.aborted) {
    session.observations.add(observeRun(diagnosedRun, failures), proof ?? {});
    session.testFiles.observe(diagnosedRun.run);
    // Tests that run only thanks to a change are announced once the change is kept.
    if (purpose !== 'retest' && purpose !== 'proof') announceTests(session, diagnosedRun.run);
  }
  const requested = new Set(failures.map(({ failure }) => failureKey(failure)));
  return {
    run: diagnosedRun.run,
    remainingReasons,
    suiteFailure: findSuiteFailure(diagnosedRun),
    others: diagnosed.filter(
      ({ failure }) => failure.scope === 'test' && !requested.has(failureKey(failure)),
    ),
    observe: (failure) => observeFailure(diagnosedRun, failure),
  };
}

/**
 * Repeats the tests whose results show nothing, and drops those results: tests that record their own trace, which failed only because Playwright refuses
 * to record two, and requested tests that did not run, for example after a failed setup.
 */
async function repeatUndecided(
  session: Session,
  first: SuiteRun,
  { failures, purpose, causeId }: RetestRequest,
): Promise<{ readonly run: SuiteRun; readonly repeated: SuiteRun | null }> {
  const twiceTraced = first.tracing === 'on' ? first.failures.filter(isTracedTwice) : [];
  const requested = new Set(failures.map(({ failure }) => failureKey(failure)));
  const ids = [
    ...new Set([
      ...twiceTraced.map(({ test }) => test.id),
      ...listNotRun(first).filter((id) => requested.has(id)),
    ]),
  ];
  if (ids.length === 0 || session.signal.aborted) return { run: first, repeated: null };
  const again = ids.flatMap((id) => first.rerunIds[id] ?? [id]);
  const repeated = await session.suite.rerun({ ids: [...new Set(again)], purpose, causeId });
  const toRepeat = new Set([...ids, ...listNotRun(first)]);
  const repeatedIds = new Set(repeated.tests.flatMap(({ test: { id } }) => (toRepeat.has(id) ? [id] : [])));
  const selectTests = (run: SuiteRun, isSelected: (id: string) => boolean) => ({
    ...run,
    tests: run.tests.filter(({ test }) => isSelected(test.id)),
    failures: run.failures.filter(({ test }) => isSelected(test.id)),
  });
  return {
    run: selectTests(first, (id) => !repeatedIds.has(id)),
    repeated: selectTests(repeated, (id) => repeatedIds.has(id)),
  };
}

/** Returns the ids of the tests that a run did not reach. */
export function listNotRun({ tests }: Pick<SuiteRun, 'tests'>): string[] {
  return tests.flatMap(({ test, outcome }) => (outcome === 'not-run' ? [test.id] : []));
}

/** Treats a failing `verify.prepare` as a build error (HL-9). */
async function createUnpreparedRetest(
  session: Session,
  { failures, proof }: RetestRequest,
  output: string,
): Promise<Retest> {
  const [suiteFailure = null] = await session.diagnostics.diagnose(createPrepareFailure(output, session));
  const observation: Observation = { ended: 'not-run', failure: null, suiteFailure };
  const observed = new Map(failures.map(({ failure }) => [failureKey(failure), observation]));
  if (!session.signal.aborted) session.observations.add(observed, proof ?? {});
  return {
    run: null,
    remainingReasons: new Map(),
    suiteFailure,
    others: [],
    observe: () => observation,
  };
}

function createPrepareFailure(output: string, session: Session): SuiteRun {
  const message = `Error: verify.prepare failed: ${session.settings.verify.prepare ?? ''}`;
  return {
    ...createEmptyRun('failed'),
    rootDir: session.cwd,
    exitCode: null,
    suiteFailure: { scope: 'suite', errors: [createPlainError(message)], stderr: output },
    endedAt: session.clock.now(),
  };
}

function listRerunIds(failures: readonly DiagnosedFailure[]): string[] | null {
  if (failures.some(({ failure }) => failure.scope === 'suite')) return null;
  return [...new Set(failures.flatMap((failure) => failure.rerunIds))];
}

/** Reads the traces of the tests that passed; without a trace, the result is empty. */
async function readGreenTests(
  failures: readonly DiagnosedFailure[],
  { tests, traces }: SuiteRun,
): Promise<Map<DiagnosedFailure, PassingTest>> {
  const passed = new Set(tests.flatMap(({ test, outcome }) => (outcome === 'expected' ? test.id : [])));
  const green = new Map<DiagnosedFailure, PassingTest>();
  for (const diagnosed of failures) {
    const { failure } = diagnosed;
    if (failure.scope === 'suite' || !passed.has(failure.test.id)) continue;
    const trace = traces?.get(failure.test.id);
    green.set(diagnosed, trace === undefined ? emptyTrace : await readPassingTrace(trace));
  }
  return green;
}

const emptyTrace: PassingTest = { errorCounts: new Map(), requests: [], writes: [], picture: null };

/** Saves the last picture of each test that passed next to its failure, so that a report can show both. */
async function saveGreenPictures(
  folder: Pick<RunFolder, 'makeFailureFolder'>,
  green: ReadonlyMap<DiagnosedFailure, PassingTest>,
): Promise<void> {
  for (const [{ n }, { picture }] of green)
    // A test without a page has no picture, and the report works without one.
    if (picture)
      await writeFile(path.join(await folder.makeFailureFolder(n), afterName), picture).catch(
        () => undefined,
      );
}
