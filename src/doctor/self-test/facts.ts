import type { Report } from '../../run/report.js';

/** What the self-test's run left behind. Scenarios are judged only by this. */
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

/** One planted fault. */
export interface Scenario {
  readonly name: string;
  /** What is wrong in the scratch project or with its agent. */
  readonly planted: string;
  /** What handling it correctly proves about self-heal. */
  readonly proves: string;
  /** The spec with the failing test; relative to the scratch project. */
  readonly spec: string;
  readonly judge: (facts: SelfTestFacts, seen: Seen) => Judged;
}

/** What the report says about the scenario's test; `cause` is null if there was none. */
export interface Seen {
  readonly test: Report['tests'][number];
  readonly cause: Report['causes'][number] | null;
}

/** What self-heal did, and what was wrong about it; `missed` is empty if the safeguard worked. */
export interface Judged {
  readonly did: string;
  readonly missed: readonly string[];
}

/** One line of `self-heal doctor --self-test`. */
export interface ScenarioResult extends Judged, Pick<Scenario, 'name' | 'planted' | 'proves'> {
  /** Whether the safeguard worked. */
  readonly held: boolean;
}
