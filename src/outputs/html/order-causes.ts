import { isResolved } from '../../core/verdict.js';
import type { ReportCause } from '../../run/report.js';

/** Causes as the page shows them: what was fixed, and what is left to do. */
export interface OrderedCauses {
  readonly fixed: readonly ReportCause[];
  readonly left: readonly ReportCause[];
}

/**
 * Parts the causes, each behind the one whose fix revealed it: an earlier failure of the same tests stands where the last of them does, since
 * a test that got past its first error is fixed only when it is green.
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
