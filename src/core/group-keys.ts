import type { DiagnosedFailure } from './cause.js';
import { deadServer } from './dead-server.js';
import type { Reason } from './diagnosis.js';
import { normalise } from './normalise.js';

/** Where evidence is nobody's wording but the cause's own: two failures that share it share the cause. */
const rootSources = new Set<Reason['source']>(['console', 'network', 'server', 'page']);

/**
 * What a failure may have in common with others of the same cause; one key in common is enough. A `ui-error` without deeper
 * evidence is told apart by its locator and the kind of complaint, since the page alone says no more.
 */
export function groupKeys(failure: DiagnosedFailure): string[] {
  return [`signature | ${failure.signature}`, ...rootKeys(failure)];
}

/** The same without the signature: what the evidence says of the cause, whatever the symptom's words are. */
export function rootKeys(failure: DiagnosedFailure): string[] {
  const origin = deadServer(failure);
  const dead = origin === null ? null : `dead server | ${origin}`;
  return [dead, rootKey(failure), databaseKey(failure), symptomKey(failure)].filter((key) => key !== null);
}

/** The deciding evidence outside the test's own error, with where it happened. */
function rootKey({ diagnosis }: DiagnosedFailure): string | null {
  const { category, why, facts } = diagnosis;
  const [strongest] = why;
  if (!strongest || category === 'ui-error' || category === 'unknown') return null;
  const root = why.find(
    ({ source, confidence }) => rootSources.has(source) && confidence === strongest.confidence,
  );
  if (!root) return null;
  const evidence = root.source === 'network' ? withoutQuery(root.evidence) : normalise(root.evidence);
  const source = category === 'runtime-error' ? facts.source : null;
  return ['root', category, evidence, source].filter(Boolean).join(' | ');
}

/** A database names what is wrong, whoever passes its words on and in whichever channel. */
function databaseKey({ diagnosis: { category, why, facts } }: DiagnosedFailure): string | null {
  const { table, column, constraint, policy } = facts;
  if (category !== 'database-error' || (table ?? column ?? constraint ?? policy) === null) return null;
  return ['database', why[0]?.rule, table, column, constraint, policy].join(' | ');
}

function symptomKey({ diagnosis }: DiagnosedFailure): string | null {
  const { category, facts, why } = diagnosis;
  return category === 'ui-error' && facts.locator ? `symptom | ${facts.locator} | ${why[0]?.rule}` : null;
}

/** `POST /api/orders?page=2 → 500` and the same of order 17 and 18 are one endpoint. */
function withoutQuery(line: string): string {
  return normalise(line.replace(/\?\S*/, '').replace(/\/\d+(?=\/|\s|$)/g, '/<id>'));
}
