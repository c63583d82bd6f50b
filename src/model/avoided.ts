/**
 * Why no agent was started for a red test that could have had one: `flaky` (green when re-run), `shared-cause` (healed by the fix of another test
 * with the same cause), `earlier-fix` (healed by the fix of another cause), `open-question` (an earlier run asked a person, who has not
 * answered), `person-needed` (credentials, a quota), `tries-used` (earlier runs have used them up), `environment` (a dead server that nothing in
 * the code explains), `remembered` (a fix of an earlier run healed it), `quarantined` (a person accepted that it is red). Reaching a limit does
 * not count as an avoided run.
 */
export const avoidedReasons = [
  'flaky',
  'shared-cause',
  'earlier-fix',
  'open-question',
  'person-needed',
  'tries-used',
  'environment',
  'quarantined',
  'remembered',
] as const;

/** One of `avoidedReasons`. */
export type AvoidedReason = (typeof avoidedReasons)[number];

/** How many agent runs were avoided for one reason. */
export interface AvoidedRuns {
  readonly reason: AvoidedReason;
  readonly count: number;
}
