import { chooseRelevantRequests } from '../diagnose/relevant-requests.js';
import type { RelatedPosition } from '../diagnose/likelihood.js';
import type { DiagnosedFailure } from '../model/cause.js';
import type { NetworkEntry } from '../model/evidence.js';
import { relativePath } from '../paths.js';
import { findHandler, type Handler } from './handlers.js';
import { findNamesInCode, type NameMatch } from './find-names-in-code.js';
import { isAppFile } from './search-code.js';

/** The app's code that matters to a failure, although no stack trace names it. */
export interface RelevantCode {
  /** The requests most likely to explain the failure; the last one is the most relevant. */
  readonly requests: readonly NetworkEntry[];
  readonly handlers: readonly Handler[];
  readonly named: readonly NameMatch[];
  /** The positions of all this code. */
  readonly relatedPositions: readonly RelatedPosition[];
}

/** How much a change near each kind of code is more likely to be the culprit. The last request is relevant itself; earlier ones only wrote data. */
const weights = { lastHandler: 6, handler: 3, named: 2, style: 1 } as const;

const styleFile = /\.(?:css|scss|sass|less|styl):\d+$/;

/**
 * Finds the code that answers the requests in question, and the lines that contain names from a failure. Finds nothing if the failing line of the app
 * is known. `root` is the project, and `tree` the folder in which its files are read.
 */
export async function findRelevantCode(
  lead: DiagnosedFailure,
  { root, tree }: { readonly root: string; readonly tree: string },
): Promise<RelevantCode> {
  const { failure, diagnosis, evidence } = lead;
  const testFile = failure.scope === 'test' ? relativePath(root, failure.test.location.file) : null;
  const sourceFile = diagnosis.facts.source?.replace(/(?::\d+)+$/, '');
  if (sourceFile !== undefined && sourceFile !== testFile && isAppFile(sourceFile))
    return { requests: [], handlers: [], named: [], relatedPositions: [] };
  const requests = chooseRelevantRequests(evidence, diagnosis.why);
  const found = await Promise.all(requests.map((entry) => findHandler(entry, tree).catch(() => null)));
  const handlers = found.filter((handler) => handler !== null);
  const named = await findNamesInCode(lead, { testFile, tree });
  const relatedPositions = [
    ...handlers.flatMap(({ at, calls }, n) => {
      const weight = n === handlers.length - 1 ? weights.lastHandler : weights.handler;
      return [at, ...calls].map((place) => ({ at: place, weight }));
    }),
    ...named.flatMap(({ at }) =>
      at.map((place) => ({ at: place, weight: styleFile.test(place) ? weights.style : weights.named })),
    ),
  ];
  return { requests, handlers, named, relatedPositions };
}
