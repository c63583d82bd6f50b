import path from 'node:path';
import type { Escalation, Offer } from '../model/escalation.js';
import type { Redactor } from '../secrets/redactor.js';
import { readStateFile } from '../state-folder.js';
import { openContentStore } from '../workspace/change.js';
import { renderChange } from '../workspace/patch-text.js';
import { readRunState } from './event-log.js';
import { isRunId, findRunDir } from './run-folder.js';
import { combineChanges, readKeptChanges, nullIfMissing } from './undo.js';

/** A longer patch is cut in reports. */
const PATCH_BYTES = 200 * 1024;

/** Reads the patch of an attempt from its run's folder, for people; null if it is missing. */
export function readPatch(
  runDir: string,
  patch: string | null,
  redactor: Pick<Redactor, 'text'>,
): string | null {
  if (patch === null || !/^attempts\/\d+\.patch$/.test(patch)) return null;
  const text = readStateFile(path.join(runDir, patch))?.toString('utf8');
  // Masks before cutting, because a split secret would not be recognized.
  return text === undefined ? null : redactor.text(text).slice(0, PATCH_BYTES);
}

/** Reads all remaining changes of a run as one patch, which may be empty; null if they can no longer be read. */
export async function readRunPatch(runDir: string): Promise<Buffer | null> {
  const changes = readKeptChanges(runDir, await readRunState(runDir));
  if (changes?.length === 0) return Buffer.alloc(0);
  const rendered =
    changes && (await renderChange(combineChanges(changes), openContentStore(runDir)).catch(nullIfMissing));
  return rendered && rendered.patch;
}

/** A patch that waits for a person, with its text; null if the run's folder was deleted, or is on another machine. */
export interface OfferWithText extends Offer {
  readonly text: string | null;
}

/** An escalation with the texts of its patches. */
export interface EscalationWithPatches extends Escalation {
  readonly offers: readonly OfferWithText[];
}

/** Reads the patches of an escalation of this project. */
export function addPatchTexts(
  projectRoot: string,
  escalation: Escalation,
  redactor: Pick<Redactor, 'text'>,
): EscalationWithPatches {
  const runDir = isRunId(escalation.runId) ? findRunDir(projectRoot, escalation.runId) : null;
  const readText = ({ patch }: Offer) => runDir && readPatch(runDir, patch, redactor);
  return { ...escalation, offers: escalation.offers.map((offer) => ({ ...offer, text: readText(offer) })) };
}
