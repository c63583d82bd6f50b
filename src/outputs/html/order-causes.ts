import { isResolved } from '../../core/verdict.js';
import type { ReportCause } from '../../run/report.js';
import type { LoadedRun } from './load-run.js';

/** Causes as the page shows them: what a run is still working on, what was fixed, and what is left to do. */
export interface OrderedCauses {
  readonly begun: readonly ReportCause[];
  readonly fixed: readonly ReportCause[];
  readonly left: readonly ReportCause[];
}

/**
 * Divides the causes, each placed after the one whose fix revealed it. A chain of causes stays together, in the group of its last one,
 * because a test that got past its first error is fixed only once it is green.
 */
export function orderCauses({ report: { causes }, causes: loaded }: LoadedRun): OrderedCauses {
  const chains = new Map<string, ReportCause[]>();
  const chainOf = new Map<string, string>();
  const byId = new Map(causes.map((cause) => [cause.id, cause]));
  for (const cause of causes) {
    const parent = byId.get(cause.parent ?? '');
    const key = parent?.verdict === 'superseded' ? (chainOf.get(parent.id) ?? cause.id) : cause.id;
    chainOf.set(cause.id, key);
    chains.set(key, [...(chains.get(key) ?? []), cause]);
  }
  const ordered = { begun: [] as ReportCause[], fixed: [] as ReportCause[], left: [] as ReportCause[] };
  for (const chain of chains.values()) {
    const isBegun = chain.some(({ id }) => loaded.get(id)?.now);
    const isFixed = chain.every(({ verdict }) => isResolved(verdict));
    ordered[isBegun ? 'begun' : isFixed ? 'fixed' : 'left'].push(...chain);
  }
  return ordered;
}
