import type { DiagnosedFailure } from './cause.js';
import type { Settings } from './settings.js';

/** What Playwright takes for a spec by default. */
const spec = /\.(?:spec|test)\.[cm]?[jt]sx?(?=[:\s"')]|$)/;

/**
 * The agents that may be tried for a failure, in order: those of its class, then of each alternative (CS-7). None for a spec
 * that does not compile: no comparison could tell whether a change of it weakened its tests (HN-3), so it is left to a person.
 */
export function agentsFor(
  failed: Pick<DiagnosedFailure, 'failure' | 'diagnosis'>,
  routes: Settings['routes'],
): string[] {
  if (isBrokenSpec(failed)) return [];
  const { category, alternatives } = failed.diagnosis;
  return [...new Set([category, ...alternatives].flatMap((one) => routes[one]))];
}

function isBrokenSpec({ failure, diagnosis }: Pick<DiagnosedFailure, 'failure' | 'diagnosis'>): boolean {
  const [error] = failure.errors;
  if (failure.scope !== 'suite' || diagnosis.category !== 'build-error' || !error) return false;
  return (
    /SyntaxError|Unexpected token/.test(error.message) && spec.test(error.location?.file ?? error.message)
  );
}
