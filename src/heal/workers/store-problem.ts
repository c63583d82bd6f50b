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
      message: `The store ${redact(store)} cannot be reached any more`,
      detail,
      remedy: 'Start this again when the server is there; a cause that a worker had goes to another one.',
    };
  const lacks = error instanceof Error && Reflect.get(error, 'code') === noRight;
  return {
    kind: 'store-unusable',
    message: `The store ${redact(store)} cannot be used as a queue`,
    detail,
    remedy: lacks
      ? 'Let its user create a schema in it (GRANT CREATE ON DATABASE … TO …) and use what is there, or name another database.'
      : 'Look into the log of the server, or name another database with --store.',
  };
}
