import type { Problem } from '../../problem.js';
import { isAway } from '../../queue/patient.js';
import { noRight } from '../../store/open-store.js';
import { redact } from '../../secrets/redact.js';
import { reasonOf } from '../../reason-of.js';

/** Creates the problem of a store that could be opened but then failed as a queue. */
export function storeProblem(store: string, error: unknown): Problem {
  const detail = redact(reasonOf(error));
  if (isAway(error))
    return {
      kind: 'store-unusable',
      message: `The store ${redact(store)} can no longer be reached`,
      detail,
      remedy:
        'Run the same command again when the server is back; a cause that a worker had taken goes to another worker.',
    };
  const lacks = error instanceof Error && Reflect.get(error, 'code') === noRight;
  return {
    kind: 'store-unusable',
    message: `The store ${redact(store)} cannot be used as a queue`,
    detail,
    remedy: lacks
      ? 'Allow its user to create a schema (GRANT CREATE ON DATABASE … TO …) and to use the existing ones, or use another database.'
      : 'Check the log of the server, or use another database with --store.',
  };
}
