import { isResolved } from '../../core/verdict.js';
import type { ReportCause } from '../../run/report.js';

/** Causes as the page shows them: what was fixed, and what is left to do. */
export interface OrderedCauses {
  readonly fixed: readonly ReportCause[];
  readonly left: readonly ReportCause[];
}

/**
 * Divides the causes, each placed after the one whose fix revealed it. A chain of causes stays together, in the group of its last one,
 * because a test that got past its first error is fixed only once it is green.
 */
export function orderCauses(causes: readonly ReportCause[]): OrderedCauses {
  const chains = new Map<string, ReportCause[]>();
  const chainOf = new Map<string, string>();
  const byId = new Map(causes.map((cause) => [cause.id, cause]));
  for (const cause of causes) {
    const parent = byId.get(cause.parent ?? '');
    const key = parent?.verdict === 'superseded' ? (chainOf.get(parent.id) ?? cause.id) : cause.id;
    chainOf.set(cause.id, key);
    chains.set(key, [...(chains.get(key) ?? []), cause]);
  }
  const all = [...chains.values()];
  const isFixed = (chain: readonly ReportCause[]) => chain.every(({ verdict }) => isResolved(verdict));
  return {
    fixed: all.filter((chain) => isFixed(chain)).flat(),
    left: all.filter((chain) => !isFixed(chain)).flat(),
  };
}
