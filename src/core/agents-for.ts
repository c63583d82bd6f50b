import type { DiagnosedFailure } from './cause.js';
import type { Settings } from './settings.js';

/** Playwright's default pattern for spec files. */
const spec = /\.(?:spec|test)\.[cm]?[jt]sx?(?=[:\s"')]|$)/;

/**
 * Returns the agents that may be tried for a failure, in order: those of its class, then those of each alternative (CS-7). A spec
 * that does not compile gets none: no comparison could tell whether a change to it weakens its tests (HN-3), so it needs a person.
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
