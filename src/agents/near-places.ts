import { chooseRelevantRequests } from '../diagnose/asserted.js';
import type { NearPlace } from '../diagnose/likelihood.js';
import type { DiagnosedFailure } from '../model/cause.js';
import type { NetworkEntry } from '../model/evidence.js';
import { relativePath } from '../paths.js';
import { findHandler, type Handler } from './handlers.js';
import { findNamedPlaces, type NamedPlace } from './named-places.js';
import { isAppFile } from './search-code.js';

/** The app's code that matters to a failure although no stack names it. */
export interface RelevantCode {
  /** The requests most likely to explain the failure; the last one is the most relevant. */
  readonly requests: readonly NetworkEntry[];
  readonly handlers: readonly Handler[];
  readonly named: readonly NamedPlace[];
  /** The positions of all of it. */
  readonly near: readonly NearPlace[];
}

/** How much more a change counts that is near such code. Only the last request is relevant itself; the one before it is a write. */
const weights = { lastHandler: 6, handler: 3, named: 2, style: 1 } as const;

const isStyle = /\.(?:css|scss|sass|less|styl)$/;

/** Finds the code that answers the requests in question, and the lines with names from a failure. `root` is the project, `tree` the folder to read. */
export async function findRelevantCode(
  lead: DiagnosedFailure,
  { root, tree }: { readonly root: string; readonly tree: string },
): Promise<RelevantCode> {
  const requests = chooseRequests(lead, root);
  const found = await Promise.all(requests.map((entry) => findHandler(entry, tree).catch(() => null)));
  const handlers = found.filter((handler) => handler !== null);
  const named = await findNamedPlaces(lead, { root, tree });
  const near = [
    ...handlers.flatMap(({ at, calls }, n) =>
      [at, ...calls].map((place) => ({
        at: place,
        weight: n === handlers.length - 1 ? weights.lastHandler : weights.handler,
      })),
    ),
    ...named.flatMap(({ at }) =>
      at.map((place) => ({
        at: place,
        weight: isStyle.test(place.replace(/:\d+$/, '')) ? weights.style : weights.named,
      })),
    ),
  ];
  return { requests, handlers, named, near };
}

/** Returns the most relevant requests, unless the failing line of the app is known. */
function chooseRequests(
  { diagnosis, evidence, failure }: DiagnosedFailure,
  root: string,
): readonly NetworkEntry[] {
  const source = diagnosis.facts.source?.replace(/(?::\d+)+$/, '');
  const test = failure.scope === 'test' ? relativePath(root, failure.test.location.file) : null;
  const isKnown = source !== undefined && source !== test && isAppFile(source);
  return failure.scope === 'suite' || isKnown ? [] : chooseRelevantRequests(evidence, diagnosis.why);
}
