import { lstat } from 'node:fs/promises';
import type { DiagnosedFailure } from '../core/cause.js';
import { writeEvidenceFiles } from '../evidence/evidence-files.js';
import { MissingEvidence } from '../evidence/missing-evidence.js';
import { keepScreenshot } from '../evidence/screenshot.js';
import type { Redactor } from '../secrets/redactor.js';

/**
 * Puts what a shard gathered around a failure into the failure's folder of this run. The files are written anew from what was checked, once
 * more without secrets; of the shard's own only the picture is taken.
 */
export async function keepCollected(
  diagnosed: DiagnosedFailure,
  { folder, redactor }: { readonly folder: string; readonly redactor: Redactor },
): Promise<DiagnosedFailure> {
  const evidence = redactor.deep(diagnosed.evidence);
  const missing = new MissingEvidence((text) => redactor.clean(text));
  const { screenshot: picture } = diagnosed.evidence;
  const screenshot =
    picture === null ? null : await missing.attempt('no screenshot', () => keptPicture(picture, folder));
  await writeEvidenceFiles(folder, evidence, missing);
  return {
    ...diagnosed,
    diagnosis: redactor.deep(diagnosed.diagnosis),
    evidence: {
      ...evidence,
      rootDir: diagnosed.evidence.rootDir,
      screenshot,
      missing: [...evidence.missing, ...missing.missing],
    },
  };
}

async function keptPicture(picture: string, folder: string): Promise<string> {
  // A link may lead to any file of this machine.
  if (!(await lstat(picture)).isFile()) throw new Error('it is no file');
  return keepScreenshot({ kind: 'file', path: picture }, folder);
}
