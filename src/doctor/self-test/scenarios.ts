import type { Report, ReportAttempt, ReportCause, ReportTest } from '../../run/report.js';

/** What the self-test's run left behind. Scenarios are judged only by this, never by printed output. */
export interface SelfTestFacts {
  readonly report: Report;
  /** Files of the scratch project that are no longer byte-for-byte as planted; relative to it, with forward slashes. */
  readonly changed: ReadonlySet<string>;
  /** The process ids of the hanging agent and its child; empty if it never started to hang. */
  readonly started: readonly number[];
  /** Those of `started` that are still alive after the run. */
  readonly alive: readonly number[];
  /** Each other process that the run left behind, as `pid command`. */
  readonly orphans: readonly string[];
}

/** What the report says about the scenario's test: its cause, if there was one, and the attempts at that. */
interface Seen {
  readonly cause: ReportCause | null;
  readonly attempts: readonly ReportAttempt[];
}

/** One planted fault, and how a run must end that handles it correctly. */
export interface Scenario {
  readonly name: string;
  /** What is wrong in the scratch project or with its agent. */
  readonly planted: string;
  /** What handling it correctly proves about self-heal. */
  readonly proves: string;
  /** The spec with the failing test; relative to the scratch project. */
  readonly spec: string;
  /** How its test and its cause must end. */
  readonly verdict: ReportTest['verdict'];
  /** Planted files, and whether each must have changed. */
  readonly files: Readonly<Record<string, boolean>>;
  /** What else must be true. */
  readonly points?: (seen: Seen, facts: SelfTestFacts) => readonly Point[];
}

/** A condition, and the message if it does not hold. */
export type Point = readonly [holds: boolean, otherwise: string];

/** Every scenario in display order: what must be healed first, then what must be refused. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'drifted locator',
    planted: 'a button has a new test id',
    proves: 'a fix is kept if runs with and without it prove it',
    spec: 'tests/5-drifted-locator.spec.mjs',
    verdict: 'healed',
    files: { 'tests/5-drifted-locator.spec.mjs': true, 'app/order.html': false },
  },
  {
    name: 'real bug',
    planted: "the app's API answers 500",
    proves: 'the evidence reaches the agent, and the app is fixed rather than the test',
    spec: 'tests/6-real-bug.spec.mjs',
    verdict: 'healed',
    files: { 'app/total.mjs': true, 'tests/6-real-bug.spec.mjs': false },
  },
  {
    name: 'flake',
    planted: 'a test fails at first and passes when re-run',
    proves: 'no agent is started for a flaky test',
    spec: 'tests/3-flake.spec.mjs',
    verdict: 'flaky',
    files: {},
    points: ({ cause }) => [[cause === null, 'an agent was started']],
  },
  {
    name: 'cheat',
    planted: 'an agent weakens the assertion, then skips the test',
    proves: 'a weakened test is not accepted as a fix',
    spec: 'tests/1-cheat.spec.mjs',
    verdict: 'rejected',
    files: { 'tests/1-cheat.spec.mjs': false },
    points: ({ attempts }) => [
      [attempts.length > 0, 'the cheating agent was never started'],
      [
        attempts.every(({ judged, violations }) => judged === 'rejected' && violations.length > 0),
        'a weakened test was not noticed',
      ],
      [attempts.every(({ reverted }) => reverted), 'a cheat was not reverted'],
    ],
  },
  {
    name: 'empty claim',
    planted: 'an agent says "Fix applied successfully", and changes nothing',
    proves: 'a claim without a change is not accepted',
    spec: 'tests/2-empty-claim.spec.mjs',
    verdict: 'failed',
    files: {},
    points: ({ attempts }) => [
      [attempts.some(isEmptyClaim), 'the agent never made its claim'],
      [attempts.every(({ judged }) => judged !== 'green'), 'its work was judged as green'],
    ],
  },
  {
    name: 'hanging agent',
    planted: 'an agent never exits, ignores SIGTERM, and hides a child process in its own session',
    proves: 'an agent that times out is stopped with all its processes',
    spec: 'tests/4-hanging-agent.spec.mjs',
    verdict: 'failed',
    files: {},
    points: ({ attempts }, { started, alive, orphans }) => [
      [attempts.some(({ outcome }) => outcome === 'timed-out'), 'no agent timed out'],
      [started.length === 2, 'the agent was stopped before it hid its child process'],
      [alive.length + orphans.length === 0, `still running: ${[...alive, ...orphans].join(', ')}`],
    ],
  },
  {
    name: 'broken neighbor',
    planted: 'a fix turns its own test green and another one red',
    proves: 'a fix that breaks another test is reverted',
    spec: 'tests/7-broken-neighbor.spec.mjs',
    verdict: 'failed',
    files: { 'app/greeting.mjs': false },
    points: ({ cause, attempts }, { report: { regression, tests } }) => [
      [attempts.some(({ judged }) => judged === 'green'), 'its fix never made its own test pass'],
      [
        regression?.broke.some(({ causeId }) => causeId === cause?.id) ?? false,
        'the regression run did not show which fix broke a test',
      ],
      [
        tests.some(isNeighbor) && tests.filter(isNeighbor).every(({ verdict }) => verdict === 'passed'),
        'tests that passed before no longer pass',
      ],
    ],
  },
];

function isEmptyClaim({ claim, files }: ReportAttempt): boolean {
  return claim?.status === 'fixed' && files.length === 0;
}

function isNeighbor({ file }: ReportTest): boolean {
  return file === 'tests/green.spec.mjs';
}
