import type { Redactor } from '../../secrets/redactor.js';
import { type Change, type ContentStore, openContentStore } from '../../workspace/change.js';
import type { FileEdit } from '../../workspace/file-state.js';
import { findUnwritable } from '../../workspace/project-files.js';
import { renderChange } from '../../workspace/patch-text.js';
import { relativePath } from '../../paths.js';
import { writeStateFile } from '../../state-folder.js';
import type { Session } from '../session.js';

/** Writes the masked patch that people, prompts and reports see. */
export async function writePatch(session: Session, change: Change, file: string) {
  const contents = openContentStore(session.folder.dir);
  const { files } = await renderChange(change, contents);
  const { patch } = await renderChange(change, createMaskedContentStore(contents, session.redactor));
  writeStateFile(`${file}.patch`, maskPatch(patch, session.redactor));
  return { files, patch: relativePath(session.folder.dir, `${file}.patch`) };
}

/** Masks both sides before they are compared, because the signs of a diff would break up a secret that spans several lines. */
function createMaskedContentStore(contents: ContentStore, redactor: Redactor): ContentStore {
  return {
    ...contents,
    get: async (hash) => {
      const exact = await contents.get(hash);
      const text = exact.toString('utf8');
      const masked = redactor.text(text);
      return masked === text ? exact : Buffer.from(masked);
    },
  };
}

/**
 * Returns a patch for display. Without secrets, it is byte for byte what `git apply` accepts. With secrets, it is masked, and only the run's stored
 * contents, from which the change is applied, have the exact bytes.
 */
function maskPatch(exact: Uint8Array, redactor: Redactor): Uint8Array | string {
  const text = Buffer.from(exact).toString('utf8');
  const masked = redactor.text(text);
  return masked === text ? exact : masked;
}

/** Turns edits that no agent made here into a change like an agent's; returns a sentence if a fix may not write one of their files. */
export async function createChangeFromEdits(session: Session, edits: readonly FileEdit[]) {
  const paths = edits.map((edit) => edit.path);
  const [unwritable] = await findUnwritable(session.workspace.root, paths);
  if (unwritable !== undefined)
    return `no fix may write ${unwritable}, which git ignores, or which belongs to another repository`;
  const id = session.spending.nextAttemptNumber();
  const work = session.workspace.createCollectedChange(String(id), edits);
  const kept = await writePatch(session, work.change, await session.folder.makeAttemptPath(id));
  return { work, kept: { ...kept, change: work.change.id } };
}
