import { lstat } from 'node:fs/promises';
import type { DiagnosedFailure } from '../core/cause.js';
import { visibleText } from '../core/visible-text.js';
import { mapTexts } from '../map-texts.js';
import { MissingEvidence } from '../evidence/missing-evidence.js';
import { keepScreenshot } from '../evidence/screenshot.js';

/**
 * Takes over a failure with the evidence that a shard gathered, and copies its screenshot to the failure's folder in this run. No other file is
 * taken from the shard: those that agents read are written anew from the validated data. The shard has masked the secrets that it
 * knows; this run's output is masked again.
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
  // A link could point to any file on this machine.
  if (!(await lstat(picture)).isFile()) throw new Error('it is not a file');
  return keepScreenshot({ kind: 'file', path: picture }, folder);
}
