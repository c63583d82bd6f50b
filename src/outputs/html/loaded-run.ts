import type { DiagnosedFailure } from '../../core/cause.js';
import type { Report, ReportTest } from '../../run/report.js';
import type { Span } from './show-timeline.js';

/** Everything that a run's page shows, read from its folder. */
export interface LoadedRun {
  readonly report: Report;
  /** The run's folder as shown to the user. */
  readonly folder: string;
  readonly timeline: readonly Span[];
  readonly causes: ReadonlyMap<string, LoadedCause>;
  /** By id. */
  readonly tests: ReadonlyMap<string, ReportTest>;
}

/** What a run's folder holds about one cause; null or absent for what it does not hold. */
export interface LoadedCause {
  /** The failure that represents the cause. */
  readonly lead: DiagnosedFailure | null;
  /** The URL of the screenshot from when the test failed: `data:image/png;base64,…` in a standalone page. */
  readonly before: string | null;
  /** The URL of the screenshot from its last green run. */
  readonly after: string | null;
  /** The patches of its attempts, by path. */
  readonly patches: ReadonlyMap<string, string>;
}
