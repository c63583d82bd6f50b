import type { Attempt } from '../model/attempt.js';
import type { Blame, Changes } from '../model/blame.js';
import type { DiagnosedFailure } from '../model/cause.js';
import type { Diagnosis } from '../model/diagnosis.js';
import type { Evidence, NetworkEntry, SourceExcerpt } from '../model/evidence.js';
import type { Handler } from './handlers.js';
import type { NameMatch } from './find-names-in-code.js';
import type { RecentCommit } from '../workspace/git.js';
import type { Flake } from '../model/flake.js';
import type { SuitePhase, SetUp } from '../model/failure.js';
import type { EarlierFix } from '../model/earlier-runs.js';

/**
 * `context.json`, whose path an agent gets in `SELF_HEAL_CONTEXT`: all facts about one failure (AG-2). Paths are absolute unless stated otherwise.
 * Other programs read this file, so a change in meaning requires a new `schemaVersion`.
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
  /** Playwright's step at which the suite itself failed, with paths relative to the project. */
  phase?: SuitePhase;
  /** The setup of the test. */
  setUp?: SetUp;
  /** The tests that must run before it to make it red, and their writes to the app. */
  needs?: NonNullable<DiagnosedFailure['neededTests']>;
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
  /** The change that broke the test, as proven by runs with and without it (BL-3), or null. */
  blame: Blame | null;
  /** Why no run found the change that broke the test; absent if there was no search. */
  unblamed?: string;
  /** The requests most likely to explain the failed assertion, also in `network`; the last one is the most relevant. */
  asked?: readonly NetworkEntry[];
  handlers?: readonly Handler[];
  /** Custom elements on the page, which an accessibility tree does not show. */
  customElements?: readonly string[];
  /** The changes since the test was green, or else the latest ones; hunks that the failure names come first. Null if git has none. */
  changes?: Changes | null;
  /** For a flaky test: how often, and under which condition, it is red. */
  flake?: Flake;
  /** The last commits that changed files that the failure names, and the project's newest commits. */
  commits: readonly RecentCommit[];
  /** The names of the evidence files next to context.json: screenshot, page, requests, trace. */
  files: readonly string[];
  /** True if the project's Playwright has `npx playwright trace`, which prints the contents of a trace. */
  playwrightReadsTraces: boolean;
  /** The positions in the app of the names in the failure, if the error's own position is unknown. */
  named?: readonly NameMatch[];
  /** The lines around `diagnosis.facts.source`; null if they are not available. */
  source: SourceExcerpt | null;
  /** The line of the test that called the source; absent if the source is in the test's own file, or unknown. */
  call?: SourceExcerpt;
  /** A person's answer (ME-7), or null. */
  guidance: string | null;
  /**
   * The changes to the tests' code that are allowed (HN-4, FL-3). `waiting` is for flakes; a person decides on changes under `asked`, and must permit
   * `anything` beforehand.
   */
  testChanges: 'none' | 'locators' | 'waiting' | 'asked' | 'anything';
  /** The fix for this failure in an earlier run, after which the failure came back; `patch` is the patch's text. */
  earlierFix: EarlierFix | null;
  /** Includes attempts of earlier runs. */
  previousAttempts: PreviousAttempt[];
}

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
