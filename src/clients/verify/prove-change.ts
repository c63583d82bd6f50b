import {
  type Candidate,
  listCandidates,
  compareFiles,
  createRevertingEdits,
} from '../../workspace/candidates.js';
import { withChange } from '../../workspace/with-change.js';
import { groupCauses } from '../../diagnose/group.js';
import { type Reading, formatReading } from '../../model/attempt.js';
import type { ProofStep } from '../../model/proof.js';
import type { ChangeVerdict } from '../../model/verification.js';
import { findSuitePlaces } from '../../guard/run-guard.js';
import { createTestPlacePredicate } from '../../guard/test-places.js';
import { counted } from '../../format.js';
import { formatReportTestName } from '../../outputs/wording.js';
import { toPlaywrightArgs } from '../../playwright/selection.js';
import { isRed, type SuiteRun } from '../../playwright/suite-run.js';
import { withoutUndefined } from '../../without-undefined.js';
import { openContents } from '../../workspace/change.js';
import { applyFlaky } from '../../heal/apply-result.js';
import { confirm } from '../../heal/confirm.js';
import type { OpenRun } from '../../command/open-run.js';
import { type HealResult, newProgress, summarise } from '../../heal/progress.js';
import type { Session } from '../../heal/session.js';
import { createSuiteRuns } from '../../command/suite-runs.js';
import { announceTests } from '../../heal/tell-tests.js';
import { changeId, readWorkingChange } from './read-change.js';
import { type ComparedChange, conclude, type ProofResults } from './compare-change.js';

/**
 * Proves a change that is in the working tree (HN-12): its tests are green with it and red without it and, with depth `full`, nothing else is red
 * because of it. To run without the change, this takes it out under the journal and puts it back.
 */
export async function verifyChange(
  opened: OpenRun,
  session: Session,
  { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
): Promise<HealResult> {
  const proof = new ChangeProof(opened, session, { first, change });
  const notGreen = await proof.proveGreen();
  // It is read while it is taken out and put back.
  const readings = change.asked.review && !notGreen ? await readWorkingChange(session, change) : null;
  let ended = notGreen ?? (await proof.proveRedWithout()) ?? (await proof.proveNothingElseBroke());
  const isOpen = ended === null || ended.verdict === 'review';
  const read = isOpen ? await readings?.of(changeId) : null;
  await readings?.stop();
  if (read && !session.signal.aborted) ended = proof.judgeReading(read.reading) ?? ended;
  if (session.signal.aborted) return { suiteRed: false, paused: false };
  return conclude(opened, change, { ...(ended ?? proven), ...proof.results() });
}

/** Why the proof of a change has ended. */
interface Conclusion {
  readonly verdict: ChangeVerdict;
  readonly reason: string;
}

/** The results of a run; a failing `verify.prepare` counts as a failure of the suite. */
type TestOutcomes = Pick<SuiteRun, 'tests' | 'suiteFailure'>;

const proven: Conclusion = { verdict: 'proven', reason: 'green with the change and red without' };
const stopped: Conclusion = { verdict: 'unproven', reason: 'interrupted' };

/** The runs with a change and without it. */
class ChangeProof {
  readonly #opened: OpenRun;
  readonly #session: Session;
  readonly #first: SuiteRun;
  readonly #change: ComparedChange;
  readonly #steps = new Map<string, ProofStep[]>();
  readonly #proven: string[] = [];
  readonly #notProven: string[] = [];

  constructor(
    opened: OpenRun,
    session: Session,
    { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
  ) {
    this.#opened = opened;
    this.#session = session;
    this.#first = first;
    this.#change = change;
    const redBefore = new Set(change.asked.red?.tests.map(({ id }) => id));
    const ids = first.tests.flatMap(({ test }) => test.id);
    // If it is unknown which tests were red, those count that are red without the change.
    const wanted = ids.some((id) => redBefore.has(id)) ? ids.filter((id) => redBefore.has(id)) : ids;
    for (const id of wanted) this.#steps.set(id, []);
  }

  results(): ProofResults {
    return {
      tests: this.#steps,
      proven: this.#proven,
      notProven: [...this.#notProven, ...this.#leftOutTests()],
    };
  }

  /** Says which tests were red and are not among those that the change is for. */
  #leftOutTests(): string[] {
    const ids = new Set(this.#first.tests.map(({ test }) => test.id));
    const others = this.#opened.request.filters.length > 0 ? (this.#change.asked.red?.tests ?? []) : [];
    return others.flatMap((test) =>
      ids.has(test.id) ? [] : `that ${formatReportTestName(test)} is fixed: it was left out`,
    );
  }

  /** With the change, every test has to be green. */
  async proveGreen(): Promise<Conclusion | null> {
    const session = this.#session;
    let run = this.#first;
    if (isRed(run)) {
      const progress = newProgress(session, run);
      const { confirmed, flaky, blockedBy } = await confirm(progress, await session.diagnose(run));
      if (session.signal.aborted) return stopped;
      const causes = groupCauses(blockedBy ? [blockedBy] : confirmed);
      for (const cause of causes) session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
      if (causes.length > 0)
        return { verdict: 'red', reason: `red with the change: ${counted(causes.length, 'cause')}` };
      await applyFlaky(progress, flaky);
      // The first run used a build from before the change.
      if (session.settings.verify.prepare === null)
        return { verdict: 'unsteady', reason: 'red with the change, then green' };
      const again = await this.#runAgain();
      if (again === null) return stopped;
      run = again;
    }
    const missing = this.#missingTests(run);
    if (missing > 0)
      return {
        verdict: 'red',
        reason: `did not run with the change: ${counted(missing, 'test')} of those that were red`,
      };
    this.#record(run);
    const more = this.#change.asked.depth === 'full' ? session.settings.verify.repeat - 1 : 0;
    return this.#repeat(more);
  }

  /** Tests that were red and that did not run now, or were skipped. */
  #missingTests({ tests }: SuiteRun): number {
    const ids = new Set(tests.flatMap(({ test, outcome }) => (outcome === 'skipped' ? [] : test.id)));
    const redBefore = this.#opened.request.filters.length > 0 ? [] : (this.#change.asked.red?.tests ?? []);
    const wanted = redBefore.length > 0 ? redBefore.map(({ id }) => id) : [...this.#steps.keys()];
    return wanted.filter((id) => !ids.has(id)).length;
  }

  async #repeat(times: number): Promise<Conclusion | null> {
    for (let n = 0; n < times; n += 1) {
      const run = await this.#runAgain();
      if (run === null) return stopped;
      if (this.#record(run).some((step) => step !== 'green'))
        return { verdict: 'unsteady', reason: 'green with the change, then red' };
    }
    const greens = [...this.#steps.values()].map((proof) => proof.filter((step) => step === 'green').length);
    if (times > 0) this.#proven.push(`green ${counted(Math.min(...greens), 'time')} with the change`);
    return null;
  }

  /** Without the change, the tests have to be red. */
  async proveRedWithout(): Promise<Conclusion | null> {
    const out = await this.#removablePart();
    if (typeof out === 'string') return { verdict: 'unproven', reason: out };
    const flips = this.#change.asked.depth === 'full' ? Math.max(1, this.#session.settings.verify.flips) : 1;
    const steps: (ProofStep | null)[] = [];
    for (let n = 0; n < flips; n += 1) {
      const run = await this.#runWithout(out, this.#idsToRun());
      if (this.#session.signal.aborted) return stopped;
      if (run === null)
        return {
          verdict: 'unproven',
          reason: 'the change could not be taken out: its files changed meanwhile',
        };
      steps.push(...this.#record(run));
    }
    const ended = this.#judgeRed(steps);
    if (ended) return ended;
    return this.#change.asked.depth === 'quick' ? this.#repeat(1) : null;
  }

  #judgeRed(steps: readonly (ProofStep | null)[]): Conclusion | null {
    const redBefore = new Set(this.#change.asked.red?.tests.map(({ id }) => id));
    const reds = [...this.#steps].filter(([, proof]) => proof.includes('red'));
    const stillGreen = [...this.#steps].filter(([id, proof]) => redBefore.has(id) && !proof.includes('red'));
    if (reds.length === 0)
      return steps.includes('green')
        ? { verdict: 'needless', reason: 'its tests are green without the change, too' }
        : { verdict: 'unproven', reason: 'without the change, its tests did not run' };
    if (stillGreen.length > 0)
      return {
        verdict: 'needless',
        reason: `green without the change, too: ${counted(stillGreen.length, 'test')} of those that were red`,
      };
    this.#proven.push(`${counted(reds.length, 'test')} red without the change`);
    for (const [id, proof] of this.#steps) if (!proof.includes('red')) this.#steps.delete(id);
    return null;
  }

  /** Applies what a reader says of the change (HN-11). */
  judgeReading(reading: Reading): Conclusion | null {
    const says = `its reader says: ${formatReading(reading)}`;
    if (reading.verdict === 'honest') {
      this.#proven.push(says);
      return null;
    }
    this.#notProven.push(`that it is honest: ${says}`);
    return reading.verdict === 'hides'
      ? { verdict: 'refused', reason: says }
      : { verdict: 'review', reason: `a person has to read it: ${says}` };
  }

  /** With depth `full`, the whole suite runs with the change, and tests that are red then run without it. */
  async proveNothingElseBroke(): Promise<Conclusion | null> {
    if (this.#change.asked.depth === 'quick')
      this.#notProven.push('that nothing else broke: the rest did not run');
    else {
      const ended = await this.#runSuite();
      if (ended) return ended;
    }
    if (this.#change.toReview.length > 0)
      return { verdict: 'review', reason: 'only a person can say whether what is listed may stay' };
    return null;
  }

  async #runSuite(): Promise<Conclusion | null> {
    const session = this.#session;
    const { config, project, workers } = this.#opened.request.options;
    const selection = withoutUndefined({ config, project, workers });
    const suite = createSuiteRuns({ ...this.#opened, args: toPlaywrightArgs(selection) });
    if ((await session.prepare()) !== null)
      return { verdict: 'red', reason: 'verify.prepare failed with the change' };
    const run = await suite.again({ ids: null, purpose: 'regression', causeId: null });
    if (session.signal.aborted) return stopped;
    announceTests(session, run);
    if (this.#record(run).some((step) => step !== 'green'))
      return { verdict: 'unsteady', reason: 'green with the change, then red in a run of the whole suite' };
    const red = run.tests.flatMap(({ test, outcome }) => (outcome === 'unexpected' ? test.id : []));
    if (red.length === 0 && run.suiteFailure)
      return this.#breaks(run, 'the suite itself is red with the change');
    if (red.length > 0) {
      const ids = [...new Set(red.flatMap((id) => run.rerunIds[id] ?? [id]))];
      const again = await session.runAgain({ ids, purpose: 'regression', causeId: null });
      const twice = red.filter((id) => stepOf(again, id) !== 'green');
      const steady = red.filter((id) => !twice.includes(id));
      if (steady.length > 0) session.bus.emit({ type: 'tests.decided', ids: steady, verdict: 'flaky' });
      const out = twice.length > 0 ? await this.#removablePart() : [];
      const before = twice.length > 0 && typeof out !== 'string' ? await this.#runWithout(out, ids) : null;
      if (session.signal.aborted) return stopped;
      const broken = twice.filter((id) => before === null || stepOf(before, id) !== 'red');
      if (broken.length > 0)
        return this.#breaks(
          again,
          `${counted(broken.length, 'other test')} red with the change and green without`,
        );
      if (twice.length > 0)
        this.#notProven.push(
          `what ${counted(twice.length, 'other test')} would show: red with and without the change`,
        );
    }
    this.#proven.push(
      `nothing else is red because of it: ${counted(run.tests.length, 'test')} of the suite ran`,
    );
    return null;
  }

  async #breaks(run: SuiteRun, reason: string): Promise<Conclusion> {
    for (const cause of groupCauses(await this.#session.diagnose(run)))
      this.#session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
    return { verdict: 'breaks', reason };
  }

  /** Returns the part of the change that is in the app or, if there is none, all of it; a sentence if it cannot be taken out. */
  async #removablePart(): Promise<readonly Candidate[] | string> {
    const { workspace, folder } = this.#session;
    const { changed, files } = this.#change;
    const { root } = workspace;
    if (root !== changed.root) return 'the project is not a git repository of its own';
    const isTest = createTestPlacePredicate(findSuitePlaces(root, this.#first));
    const contents = openContents(folder.dir);
    // Files that the tests write are not part of the change.
    const now = new Map(
      (
        await compareFiles(
          changed,
          files.map((file) => file.path),
        )
      ).map(({ path, after }) => [path, after]),
    );
    const still = files.filter(({ path, after }) => now.get(path) === after);
    const candidates = await listCandidates(still, { root, contents, isTest, findStep: () => 0 });
    if (candidates.length === 0)
      return still.length === 0
        ? 'nothing has changed since, so there is nothing to take out'
        : 'what changed cannot be taken out without installing packages';
    const app = candidates.filter(({ inTests }) => !inTests);
    return app.length > 0 ? app : candidates;
  }

  /** Runs tests without the change; null if it could not be taken out. */
  async #runWithout(out: readonly Candidate[], ids: readonly string[] | null): Promise<TestOutcomes | null> {
    const { workspace, folder, bus, signal } = this.#session;
    const edits = await createRevertingEdits(out, {
      root: workspace.root,
      contents: openContents(folder.dir),
    });
    if (edits === null) return null;
    const contents = openContents(folder.dir);
    const warn = (message: string) => bus.emit({ type: 'run.warning', message });
    // The ids of agents' changes never look like this.
    const change = { id: '900000001', edits, folders: [] };
    const result = await withChange<TestOutcomes>({ workspace, contents, warn }, change, async () => {
      const broken = await this.#session.prepare();
      if (broken !== null) return { tests: [], suiteFailure: { scope: 'suite', errors: [], stderr: broken } };
      return this.#session.runAgain({ ids, purpose: 'proof', causeId: null });
    });
    // What was built with these edits must not stay.
    if (result && !signal.aborted) await this.#session.prepare();
    return result?.value ?? null;
  }

  /** Runs the tests with the change once more; null if the run was interrupted. */
  async #runAgain(): Promise<SuiteRun | null> {
    const { signal } = this.#session;
    const run = await this.#session.runAgain({ ids: this.#idsToRun(), purpose: 'proof', causeId: null });
    return signal.aborted ? null : run;
  }

  #idsToRun(): readonly string[] | null {
    const { rerunIds } = this.#first;
    const ids = [...this.#steps.keys()].flatMap((id) => rerunIds[id] ?? [id]);
    return ids.length > 0 ? [...new Set(ids)] : null;
  }

  /** Records the outcome of each test in a run. */
  #record(run: TestOutcomes): (ProofStep | null)[] {
    return [...this.#steps].map(([id, proof]) => {
      const step = stepOf(run, id);
      if (step) proof.push(step);
      return step;
    });
  }
}

/** Returns the outcome of a test in a run; null if there is none. If the suite does not start, no test is green. */
function stepOf({ tests, suiteFailure }: TestOutcomes, id: string): ProofStep | null {
  const result = tests.find(({ test }) => test.id === id);
  if (result?.outcome === 'expected' || result?.outcome === 'flaky') return 'green';
  return result?.outcome === 'unexpected' || suiteFailure ? 'red' : null;
}
