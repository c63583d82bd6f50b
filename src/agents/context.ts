import type { Attempt } from '../model/attempt.js';
import type { Blame, Changes } from '../model/blame.js';
import type { Diagnosis } from '../model/diagnosis.js';
import type { Evidence, SourceExcerpt } from '../model/evidence.js';
import type { NamedPlace } from './named-places.js';
import type { RecentCommit } from '../workspace/git.js';
import type { Flake } from '../model/flake.js';
import type { Phase, SetUp } from '../model/failure.js';
import type { EarlierFix } from '../model/earlier-runs.js';

/**
 * `context.json`, whose path an agent gets in `SELF_HEAL_CONTEXT`: everything known about one failure (AG-2). Paths are absolute unless
 * stated otherwise. Other programs read this file; a change of meaning requires a new `schemaVersion`.
 */
export interface AgentContext extends Omit<
  Evidence,
  'errors' | 'sources' | 'elements' | 'rootDir' | 'workspaceDir'
> {
  schemaVersion: 1;
  runId: string;
  causeId: string;
  /** Counted from 1. */
  attempt: number;
  task: 'Fix this error so the test can pass';
  project: { name: string; root: string };
  /** Null if the suite itself failed before any test. */
  test: ContextTest | null;
  /** What Playwright was doing when the suite itself failed, with paths relative to the project. */
  phase?: Phase;
  /** What was set up for the test. */
  setUp?: SetUp;
  /** How many tests ran before it without which it is green. */
  needs?: number;
  /** The other tests that fail for the same cause. */
  otherTests: ContextTest[];
  error: {
    type: string;
    message: string;
    stack: string | null;
    snippet: string | null;
    causes: readonly string[];
  };
  diagnosis: Pick<Diagnosis, 'category' | 'alternatives' | 'confidence' | 'why' | 'facts' | 'warning'>;
  /** The change that broke it, as shown by runs with and without it (BL-3), or null. */
  blame: Blame | null;
  /** What changed since it was green, or lately, those hunks first that the failure names; null if nothing did or git cannot tell. */
  changes?: Changes | null;
  /** What was found out about the test, if it is red and green on the same code. */
  flake?: Flake;
  /** The last commits that changed what the failure shows, and the newest ones of the project. */
  commits: readonly RecentCommit[];
  /** The names of the files beside context.json that show the failure: screenshot, page, requests, trace. */
  files: readonly string[];
  /** Whether the project's Playwright has `npx playwright trace`, which prints what is in a trace. */
  playwrightReadsTraces: boolean;
  /** Where the app has the names that the failure shows, if its place is not known otherwise. */
  named?: readonly NamedPlace[];
  /** The lines around `diagnosis.facts.source`; null if they are not available. */
  source: SourceExcerpt | null;
  /** What a person answered when asked (ME-7), or null. */
  guidance: string | null;
  /**
   * What the tests' code may become (HN-4, FL-3): nothing else, `locators`, for a flake `waiting`, whatever a person is then asked about, or, if a person has opened it,
   * `anything`.
   */
  testChanges: 'none' | 'locators' | 'waiting' | 'asked' | 'anything';
  /** What healed this failure in an earlier run but did not last; `patch` is the patch's text. */
  earlierFix: EarlierFix | null;
  /** Includes attempts of earlier runs. */
  previousAttempts: PreviousAttempt[];
}

/** A test as an agent sees it. */
export interface ContextTest {
  id: string;
  /** Titles joined by ` › `, as Playwright prints them. */
  name: string;
  titlePath: readonly string[];
  /** Relative to the project's root, with `/`. */
  file: string;
  line: number;
  project: string;
}

/** An earlier attempt at the same cause, and its result. */
export interface PreviousAttempt extends Pick<
  Attempt,
  'n' | 'agent' | 'exit' | 'claim' | 'files' | 'cut' | 'end'
> {
  /** The patch, at most 8,000 characters, or null. */
  patch: string | null;
}
