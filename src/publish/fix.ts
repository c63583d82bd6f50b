import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { unpublishableReason } from '../guard/protected-files.js';
import { reasonOf } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { safePath } from '../workspace/change.js';
import { createHash } from 'node:crypto';
import { fenceFor } from '../core/fenced.js';
import { visibleText } from '../core/visible-text.js';

/** One file of a fix. */
export interface FixedFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  /** Null if the fix leaves it as it is. */
  readonly isExecutable: boolean | null;
  readonly patch: StructuredPatch;
}

/**
 * Reads the patch of a run, which may come from anybody: it can name only files of the repository, none of which `protects` gives a reason. Returns why it cannot be
 * published, as the end of a sentence, if it cannot.
 */
export function readFix(
  text: string,
  protects: (file: string) => string | null = unpublishableReason,
): Result<readonly FixedFile[], string> {
  try {
    const files = parsePatch(text).map((one) => fixedFile(one, protects));
    const refused = files.find(({ why }) => why !== null);
    return refused ? err(`${refused.path} ${refused.why}`) : ok(files);
  } catch (error) {
    return err(`its patch cannot be read: ${reasonOf(error)}`);
  }
}

function fixedFile(
  patch: StructuredPatch,
  protects: (file: string) => string | null,
): FixedFile & { readonly why: string | null } {
  const { oldFileName = '', newFileName = '', oldMode, newMode, hunks, isCreate, isDelete } = patch;
  const path = (isDelete ? oldFileName : newFileName).replace(/^[ab]\//, '');
  const why = () => {
    if (!safePath.safeParse(path).success) return 'is not a path in the repository';
    const isProtected = protects(path);
    if (isProtected !== null) return `has to be changed by a person: ${isProtected}`;
    if ([oldMode, newMode].some((mode) => mode !== undefined && !/^100(?:644|755)$/.test(mode)))
      return 'is a link';
    const hasText = hunks.length > 0 || isCreate || isDelete || newMode !== undefined;
    return hasText ? null : 'is not text: apply the patch with `git apply`';
  };
  return { path, isExecutable: newMode === undefined ? null : newMode === '100755', patch, why: why() };
}

/** Returns what a file becomes: null if it is deleted, and `conflict` if a branch has something else at its path than the fix was made for. */
export function fixedContent({ patch }: FixedFile, before: Buffer | null): Buffer | null | 'conflict' {
  if ((before === null) !== (patch.isCreate === true)) return 'conflict';
  // One character per byte, so that no byte is lost.
  const text = applyPatch(before?.toString('latin1') ?? '', inLatin1(patch), {
    autoConvertLineEndings: false,
  });
  if (text === false) return 'conflict';
  return patch.isDelete ? null : Buffer.from(text, 'latin1');
}

function inLatin1(patch: StructuredPatch): StructuredPatch {
  const bytes = (line: string) => Buffer.from(line, 'utf8').toString('latin1');
  return { ...patch, hunks: patch.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(bytes) })) };
}

/** Lines of a file as a branch has them, counted from 1, and what a fix has in their place. */
export interface Replacement {
  readonly path: string;
  readonly first: number;
  readonly last: number;
  readonly lines: readonly string[];
}

/** Returns what a fix replaces in existing files, block by block. Lines that are only added replace the line before them with itself and them. */
export function replacementsOf({ path, patch }: FixedFile): Replacement[] {
  if (patch.isCreate || patch.isDelete) return [];
  return patch.hunks.flatMap((hunk) => {
    const found: Replacement[] = [];
    let line = hunk.oldStart;
    let context: string | null = null;
    for (let at = 0; at < hunk.lines.length;) {
      const block = blockAt(hunk.lines, at);
      if (block.length === 0) {
        context = (hunk.lines[at] ?? '').slice(1);
        at += 1;
        line += 1;
        continue;
      }
      const removed = block.filter((one) => one.startsWith('-')).length;
      const added = block.filter((one) => one.startsWith('+')).map((one) => one.slice(1));
      if (removed > 0) found.push({ path, first: line, last: line + removed - 1, lines: added });
      else if (context !== null)
        found.push({ path, first: line - 1, last: line - 1, lines: [context, ...added] });
      line += removed;
      at += block.length;
    }
    return found;
  });
}

function blockAt(lines: readonly string[], from: number): string[] {
  const rest = lines.slice(from);
  const end = rest.findIndex((line) => !/^[-+\\]/.test(line));
  return end === -1 ? rest : rest.slice(0, end);
}

/** Whether a person sees all of what they would accept: a text with hidden or reordered characters is not suggested. */
export function isPlain({ lines }: Replacement): boolean {
  const text = lines.join('\n');
  return visibleText(text) === text;
}

/** Returns a comment that nobody sees, by which a suggestion is recognized. */
export function keyOf(one: Replacement): string {
  const hash = createHash('sha256').update(JSON.stringify(one)).digest('hex').slice(0, 16);
  return `<!-- self-heal suggestion ${hash} -->`;
}

/** Renders a suggestion, which the forge offers to commit. Nothing in the lines can close its block. */
export function suggestionText(one: Replacement, tag: string): string {
  const fence = fenceFor(one.lines.join('\n'));
  return [keyOf(one), `${fence}${tag}`, ...one.lines, fence].join('\n');
}
