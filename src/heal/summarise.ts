import { testsOf } from '../core/failure.js';
import type { Cause } from '../core/cause.js';
import { headlineOf } from '../core/headline.js';
import type { CauseSummary } from '../event.js';

/** Returns a cause as events and reports name it. */
export function summarise({ id, lead, members, parent }: Cause): CauseSummary {
  const { category, alternatives, why, confidence, warning, facts } = lead.diagnosis;
  return {
    id,
    signature: lead.signature,
    category,
    alternatives,
    why,
    confidence,
    // Headline and class are those of the lead.
    tests: testsOf([lead, ...members.filter((one) => one !== lead)]),
    headline: headlineOf(lead),
    source: facts.source,
    parent,
    warning,
    evidence: `failures/${lead.n}`,
  };
}
