import type { Report } from '../../run/report.js';

/** What the run of the self-test left behind; all that a scenario is judged by. */
export interface SelfTestFacts {
  readonly report: Report;
  /** Files of the scratch project that are not, byte for byte, as they were planted; relative to it, with `/`. */
  readonly changed: ReadonlySet<string>;
  /** The processes of the hanging agent, by their ids; empty where it never came to hang. */
  readonly started: readonly number[];
  /** Which of those live on after the run. */
  readonly alive: readonly number[];
  /** `pid command` of everything else that the run left running. */
  readonly orphans: readonly string[];
}

/** One fault that is planted. */
export interface Scenario {
  readonly name: string;
  /** What is wrong in the scratch project, or with its agent. */
  readonly planted: string;
  /** What it proves that self-heal met it so. */
  readonly proves: string;
  /** The spec whose test shows it; relative to the scratch project. */
  readonly spec: string;
  readonly judge: (facts: SelfTestFacts, seen: Seen) => Judged;
}

/** What the report says of the test of a scenario; `cause` is null where there was none. */
export interface Seen {
  readonly test: Report['tests'][number];
  readonly cause: Report['causes'][number] | null;
}

/** What self-heal did, and in which points that was not what it should have done; none where the guard fired. */
export interface Judged {
  readonly did: string;
  readonly missed: readonly string[];
}

/** One line of `self-heal doctor --self-test`. */
export interface ScenarioResult extends Judged {
  readonly name: string;
  readonly planted: string;
  readonly proves: string;
  /** The guard fired. */
  readonly held: boolean;
}
