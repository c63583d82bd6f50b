/**
 * Why an agent that a red test might have been given was never started: `flaky` (green when run again), `shared-cause` (green by the
 * fix of another test's same cause), `earlier-fix` (green by a fix of another cause), `open-question` (an earlier run asked a person,
 * who has not answered), `person-needed` (credentials, a quota, or its tries are used up), `environment` (a dead server that nothing
 * in the code explains), `quarantined` (a person has accepted that it is red). A limit that is met saves nothing, and is none of them.
 */
export type AvoidedReason =
  | 'flaky'
  | 'shared-cause'
  | 'earlier-fix'
  | 'open-question'
  | 'person-needed'
  | 'environment'
  | 'quarantined';

/** How many agent runs were avoided for one reason. */
export interface Avoided {
  readonly reason: AvoidedReason;
  readonly count: number;
}
