import path from 'node:path';
import { applyPatch, createPatch } from 'diff';
import { z } from 'zod';
import type { Redactor } from '../secrets/redactor.js';
import { type Contents, safePath, stateOrNull } from '../workspace/change.js';
import { contentOf, type FileEdit, type FileState, hashOf, stateOf } from '../workspace/file-state.js';

/** An edit as sent through the queue: a diff of a text, so that the rest of the file is not sent; otherwise the whole content. */
export interface SentEdit extends FileEdit {
  /** The diff as Latin-1, one character per byte; null if `bytes` has the content, or if the file was deleted. */
  readonly diff: string | null;
  /** Base64. */
  readonly bytes: string | null;
}

/** The schema of a received edit. */
export const sentEdit: z.ZodType<SentEdit> = z.object({
  path: safePath,
  before: stateOrNull,
  after: stateOrNull,
  diff: z.string().nullable(),
  bytes: z.base64().nullable(),
});

/** Files that differ in more lines are sent whole, since finding the shortest diff takes quadratic time. */
const mostDifferences = 1000;

/** Prepares edits to be sent. Returns the file instead if its change contains a secret, which must not enter the queue (EV-9). */
export async function sendEdits(
  edits: readonly FileEdit[],
  contents: Contents,
  redactor: Pick<Redactor, 'text'>,
): Promise<{ readonly edits: SentEdit[] } | { readonly secretIn: string }> {
  const sent: SentEdit[] = [];
  for (const edit of edits) {
    const one = await sentOf(edit, contents);
    const said = one.diff === null ? Buffer.from(one.bytes ?? '', 'base64') : Buffer.from(one.diff, 'latin1');
    const text = said.toString('utf8');
    if (redactor.text(text) !== text) return { secretIn: edit.path };
    sent.push(one);
  }
  return { edits: sent };
}

async function sentOf(edit: FileEdit, contents: Contents): Promise<SentEdit> {
  const { before, after } = edit;
  if (after === null) return { ...edit, diff: null, bytes: null };
  const now = await contents.get(after.hash);
  const whole = { ...edit, diff: null, bytes: now.toString('base64') };
  if (before?.kind !== 'file' || after.kind !== 'file') return whole;
  const old = await contents.get(before.hash);
  if (old.includes(0) || now.includes(0)) return whole;
  const options = { maxEditLength: mostDifferences };
  const [was, is] = [old.toString('latin1'), now.toString('latin1')];
  const diff = createPatch('file', was, is, undefined, undefined, options);
  // A diff that does not reproduce every byte, because of unusual line endings for example, is replaced by the whole content.
  return diff !== undefined && applied(was, diff) === is ? { ...edit, diff, bytes: null } : whole;
}

function applied(text: string, diff: string): string | false {
  try {
    return applyPatch(text, diff, { autoConvertLineEndings: false });
  } catch {
    return false;
  }
}

/** Reads edits back and stores their contents. Returns the file instead if its content here differs. */
export async function receiveEdits(
  sent: readonly SentEdit[],
  root: string,
  contents: Contents,
): Promise<{ readonly edits: FileEdit[] } | { readonly strange: string }> {
  const edits: FileEdit[] = [];
  for (const { diff, bytes, ...edit } of sent) {
    const before = edit.before && (await contentHere(root, edit.path, { state: edit.before, contents }));
    if (before) await contents.put(before);
    if (edit.after !== null) {
      const after = diff === null ? Buffer.from(bytes ?? '', 'base64') : patched(before, diff);
      if (after === null || hashOf(after) !== edit.after.hash) return { strange: edit.path };
      await contents.put(after);
    }
    if (edit.before !== null && before === null) return { strange: edit.path };
    edits.push(edit);
  }
  return { edits };
}

function patched(before: Buffer | null, diff: string): Buffer | null {
  const text = before && applied(before.toString('latin1'), diff);
  return typeof text === 'string' ? Buffer.from(text, 'latin1') : null;
}

/** Returns the bytes of a state: from the file, or from the stored contents if the file has changed since. */
async function contentHere(
  root: string,
  file: string,
  { state, contents }: { state: FileState; contents: Contents },
): Promise<Buffer | null> {
  const now = stateOf(root, file);
  if (now !== null && now !== 'other' && now.hash === state.hash)
    return contentOf(path.join(root, file), now.kind);
  return contents.get(state.hash).catch(() => null);
}
