import type { Report, ReportTest } from '../run/report.js';
import { nameOf } from './format.js';
import { regressionText } from './wording.js';

/** Something to say about a run besides its causes; never without items. */
export interface Remark {
  readonly title: string;
  readonly items: readonly string[];
}

/** Returns what the reports say about a run besides its causes, in the order that all of them use. */
export function remarksOf({ tests, regression, warnings }: Report): Remark[] {
  const named = (verdict: ReportTest['verdict']) =>
    tests.filter((test) => test.verdict === verdict).map(nameOf);
  return [
    { title: 'Flaky: red, then green without a change; no agent was started', items: named('flaky') },
    { title: 'Quarantined: still red, but not failing the run', items: named('quarantined') },
    { title: 'Regression run', items: regression ? [regressionText(regression)] : [] },
    { title: 'Warnings', items: warnings },
  ].filter(({ items }) => items.length > 0);
}
