import type { Category, Diagnosis, EvidenceSource, Reason } from '../diagnosis.js';
import type { Evidence } from '../evidence.js';
import { factsOf } from './facts.js';
import { createMatcher, type EvidenceText } from './match.js';
import type { ProjectRules } from './project-rules.js';
import { evidenceTexts } from './evidence-texts.js';
import { rankCategories } from './weigh.js';

/** The warning for a failure that no rule knows (CS-6). */
export const unknownWarning = 'Error type unknown, using default agent';

/** Tells what a failure is, why, what else it may be, and what its evidence names explicitly (CS-1 to CS-8, CS-11). */
export type Classify = (evidence: Evidence) => Diagnosis;

const mostReasons = 5;

/** Classifies by the built-in rules alone. */
export const classify: Classify = createClassify();

/** Has the patterns of the built-in rules compiled, which takes as long as classifying fifty failures: for a time when nobody waits. */
export function compileRules(): void {
  const sources: readonly EvidenceSource[] = ['error', 'stack', 'console', 'network', 'server', 'page'];
  createMatcher().reasonsIn(sources.map((source) => ({ source, text: 'Error' })));
}

/** Makes a classifier of the built-in rules and a project's own (CS-9). */
export function createClassify(project?: ProjectRules): Classify {
  const matcher = createMatcher(project);
  return (evidence) => {
    const texts = evidenceTexts(evidence, matcher);
    const reasons = matcher.reasonsIn(texts);
    const [category = 'unknown', ...others] = rankCategories(reasons);
    const why = strongest(reasons, category);
    return {
      category,
      alternatives: others.filter((other) => other !== 'unknown'),
      confidence: why[0]?.confidence ?? 0,
      why,
      retry: matcher.retryAxisOf(relevant(texts, why), { category, why }),
      facts: factsOf(evidence, { texts, reasons, why }),
      warning: category === 'unknown' ? unknownWarning : null,
    };
  };
}

function strongest(reasons: readonly Reason[], category: Category): Reason[] {
  const own = reasons.filter((reason) => reason.category === category);
  return own
    .sort((a, b) => b.confidence - a.confidence || nearness(a.source) - nearness(b.source))
    .slice(0, mostReasons);
}

/** Of two equally sure reasons, the one from the app goes before the one from the test. */
function nearness(source: EvidenceSource): number {
  return source === 'error' || source === 'stack' ? 1 : 0;
}

/** The error itself and the channels that decided: the rest of the evidence must not influence the retry axis. */
function relevant(texts: readonly EvidenceText[], why: readonly Reason[]): EvidenceText[] {
  return texts.filter(({ source }) => source === 'error' || why.some((reason) => reason.source === source));
}
