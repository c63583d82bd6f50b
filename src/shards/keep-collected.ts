import { lstat } from 'node:fs/promises';
import type { DiagnosedFailure } from '../core/cause.js';
import { visibleText } from '../core/visible-text.js';
import { mapTexts } from '../map-texts.js';
import { MissingEvidence } from '../evidence/missing-evidence.js';
import { keepScreenshot } from '../evidence/screenshot.js';

/**
 * Takes over what a shard gathered around a failure, with its picture, which goes into the failure's folder of this run. Of the shard's other
 * files none is taken: where an agent is to read them they are written anew, from what was checked. Secrets were masked on the shard, which
 * knows them; what leaves this run is masked once more.
 */
export async function keepCollected(collected: DiagnosedFailure, folder: string): Promise<DiagnosedFailure> {
  const diagnosed = mapTexts(collected, visibleText);
  const { evidence } = diagnosed;
  const missing = new MissingEvidence(visibleText);
  const { screenshot: picture } = collected.evidence;
  const screenshot =
    picture === null ? null : await missing.attempt('no screenshot', () => keptPicture(picture, folder));
  return {
    ...diagnosed,
    failure: collected.failure,
    evidence: { ...evidence, screenshot, missing: [...evidence.missing, ...missing.missing] },
  };
}

async function keptPicture(picture: string, folder: string): Promise<string> {
  // A link may lead to any file of this machine.
  if (!(await lstat(picture)).isFile()) throw new Error('it is not a file');
  return keepScreenshot({ kind: 'file', path: picture }, folder);
}
