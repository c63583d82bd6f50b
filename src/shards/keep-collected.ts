import { lstat } from 'node:fs/promises';
import type { DiagnosedFailure } from '../core/cause.js';
import { visibleText } from '../core/visible-text.js';
import { writeEvidenceFiles } from '../evidence/evidence-files.js';
import { mapTexts } from '../map-texts.js';
import { MissingEvidence } from '../evidence/missing-evidence.js';
import { keepScreenshot } from '../evidence/screenshot.js';

/**
 * Puts what a shard gathered around a failure into the failure's folder of this run. The files are written anew from what was checked; of the
 * shard's own only the picture is taken. Secrets were masked on the shard, which knows them; what leaves this run is masked once more.
 */
export async function keepCollected(collected: DiagnosedFailure, folder: string): Promise<DiagnosedFailure> {
  const diagnosed = mapTexts(collected, visibleText);
  const { evidence } = diagnosed;
  const missing = new MissingEvidence(visibleText);
  const { screenshot: picture } = collected.evidence;
  const screenshot =
    picture === null ? null : await missing.attempt('no screenshot', () => keptPicture(picture, folder));
  await writeEvidenceFiles(folder, evidence, missing);
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
