import { counted, dollars, duration } from './format.js';
import type { Report } from '../run/report.js';

/** One figure of a run. */
export interface Tally {
  /** `failed`, `agent runs`. */
  readonly name: string;
  /** `3`, `$0.02`, `4.2s`. */
  readonly value: string;
  /** Name and value combined: `3 failed`, `1 agent run`. */
  readonly text: string;
}

/** Returns a run's test counts and costs in the order that all reports use; figures that are 0 are left out, except `passed`. */
export function talliesOf({ totals, tests, verify, shards }: Report): readonly Tally[] {
  const quarantined = tests.filter(({ verdict }) => verdict === 'quarantined').length;
  const missing = shards?.missing.length ?? 0;
  const of = (count: number, name: string, text = `${count} ${name}`): Tally[] =>
    count > 0 ? [{ name, value: String(count), text }] : [];
  return [
    { name: 'passed', value: String(totals.passed), text: `${totals.passed} passed` },
    ...of(totals.healed, verify === 'quick' ? 'healed (quick proof)' : 'healed'),
    ...of(totals.greenOnce, 'green once, not proven'),
    ...of(totals.flaky, 'flaky'),
    ...of(totals.failed, 'failed'),
    ...of(quarantined, 'quarantined'),
    ...of(totals.skipped, 'skipped'),
    ...of(totals.notRun, 'not run'),
    ...of(missing, 'shards missing', `${counted(missing, 'shard')} missing`),
    ...of(totals.agentRuns, 'agent runs', counted(totals.agentRuns, 'agent run')),
    ...of(
      totals.agentRunsAvoided,
      'agent runs saved',
      `${counted(totals.agentRunsAvoided, 'agent run')} saved`,
    ),
    ...(totals.costUsd === null
      ? []
      : [{ name: 'cost', value: dollars(totals.costUsd), text: dollars(totals.costUsd) }]),
    { name: 'time', value: duration(totals.durationMs), text: duration(totals.durationMs) },
  ];
}
