import type { DiagnosedFailure } from '../../core/cause.js';
import type { Report, ReportTest } from '../../run/report.js';
import type { Span } from './show-timeline.js';

/** Everything of a run that its page shows, read from its folder. */
export interface LoadedRun {
  readonly report: Report;
  /** The run's folder as a person types it. */
  readonly folder: string;
  readonly timeline: readonly Span[];
  readonly causes: ReadonlyMap<string, LoadedCause>;
  /** By their ids. */
  readonly tests: ReadonlyMap<string, ReportTest>;
}

/** What a run's folder holds of one cause; null and absent where it holds nothing. */
export interface LoadedCause {
  /** The failure that stood for the cause. */
  readonly lead: DiagnosedFailure | null;
  /** The address of the picture of the page when the test failed: `data:image/png;base64,…` in a page that stands alone. */
  readonly before: string | null;
  /** The same of its last green run. */
  readonly after: string | null;
  /** Patches of its attempts, by their paths. */
  readonly patches: ReadonlyMap<string, string>;
}
