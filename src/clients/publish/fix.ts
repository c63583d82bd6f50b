import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { explainUnpublishable } from '../../guard/protected-files.js';
import { describeError } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { safePath } from '../../workspace/safe-path.js';
import { createHash } from 'node:crypto';
import { createFence } from '../../fenced.js';
import { visibleText } from '../../visible-text.js';

/** One file of a fix. */
export interface PublishedFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  /** Null if the fix does not change it. */
  readonly isExecutable: boolean | null;
  /** Its hunks have one character per byte, so that no byte is lost. */
  readonly patch: StructuredPatch;
  /** Git's ids of its content before and after, in the run; null if the patch does not contain them. */
  readonly blobs: { readonly before: string; readonly after: string } | null;
}

/** Decodes a text that has one character per byte. */
const decodeBytes = (text: string) => Buffer.from(text, 'latin1').toString('utf8');

/** The maximum number of files in a published fix, because each needs several requests. */
const MAX_FILES = 300;

/**
 * Reads the patch of a run. It is untrusted, so it may only change files of the repository for which `explainProtection` returns null. The error is the
 * reason why it cannot be published, as the end of a sentence.
 */
export function readFix(
  bytes: Buffer,
  explainProtection: (file: string) => string | null = explainUnpublishable,
): Result<readonly PublishedFile[], string> {
  const parts = bytes.toString('latin1').split(/^(?=diff --git )/m);
  if (parts.length > MAX_FILES)
    return err(`it changes ${parts.length} files, more than the maximum of ${MAX_FILES}`);
  try {
    const files = parts.flatMap((part) =>
      parsePatch(part).map((filePatch) => parseFile(filePatch, { part, explainProtection })),
    );
    const refused = files.find(({ why }) => why !== null);
    return refused ? err(`${refused.path} ${refused.why}`) : ok(files);
  } catch (error) {
    return err(`its patch cannot be read: ${describeError(error)}`);
  }
}

function parseFile(
  patch: StructuredPatch,
  {
    part,
    explainProtection,
  }: { readonly part: string; readonly explainProtection: (file: string) => string | null },
): PublishedFile & { readonly why: string | null } {
  const { oldFileName = '', newFileName = '', oldMode, newMode, hunks, isCreate, isDelete } = patch;
  const path = decodeBytes(isDelete ? oldFileName : newFileName).replace(/^[ab]\//, '');
  const [head = ''] = part.split(/^@@ /m, 1);
  const [, before = null, after = ''] = /^index ([\da-f]{40})\.\.([\da-f]{40})/m.exec(part) ?? [];
  const explainRefusal = () => {
    // Git quotes and escapes some names, and a tab ends a name.
    if (/^(?:diff|---|\+\+\+|rename|copy) .*(?:"|\t.)/m.test(head) || !isPlainText(path))
      return 'has a name that cannot be shown unchanged';
    if (!safePath.safeParse(path).success) return 'is not a path in the repository';
    const protection = explainProtection(path);
    if (protection !== null) return `has to be changed by a person: ${protection}`;
    if ([oldMode, newMode].some((mode) => mode !== undefined && !/^100(?:644|755)$/.test(mode)))
      return 'is a link';
    const hasText = hunks.length > 0 || isCreate || isDelete;
    if (hasText && before === null) return "is changed by a patch that lacks git's ids for its content";
    return hasText || newMode !== undefined ? null : 'is not text: apply the patch with `git apply`';
  };
  const isExecutable = newMode === undefined ? null : newMode === '100755';
  const blobs = before === null ? null : { before, after };
  return { path, isExecutable, patch, blobs, why: explainRefusal() };
}

/** Returns the content of a file after the fix: null if it is deleted, `conflict` if the fix was made for different content. */
export function applyToContent({ patch }: PublishedFile, before: Buffer | null): Buffer | null | 'conflict' {
  if ((before === null) !== (patch.isCreate === true)) return 'conflict';
  const text = applyPatch(before?.toString('latin1') ?? '', patch, {
    autoConvertLineEndings: false,
  });
  if (text === false) return 'conflict';
  return patch.isDelete ? null : Buffer.from(text, 'latin1');
}

/** Lines of a file on a branch, counted from 1, and the lines that replace them. */
export interface LineReplacement {
  readonly path: string;
  readonly first: number;
  readonly last: number;
  readonly lines: readonly string[];
}

/** Lists the replaced blocks of lines in existing files. Where lines are only added, this replaces the line before them. */
export function listReplacements({ path, patch }: PublishedFile): LineReplacement[] {
  if (patch.isCreate || patch.isDelete) return [];
  return patch.hunks.flatMap((hunk) => {
    const lines = hunk.lines.map(decodeBytes);
    const replacements: LineReplacement[] = [];
    let line = hunk.oldStart;
    let context: string | null = null;
    for (let at = 0; at < lines.length;) {
      const block = readBlock(lines, at);
      if (block.length === 0) {
        context = (lines[at] ?? '').slice(1);
        at += 1;
        line += 1;
        continue;
      }
      const removed = block.filter((line) => line.startsWith('-')).length;
      const added = block.filter((text) => text.startsWith('+')).map((text) => text.slice(1));
      if (removed > 0) replacements.push({ path, first: line, last: line + removed - 1, lines: added });
      else if (context !== null)
        replacements.push({ path, first: line - 1, last: line - 1, lines: [context, ...added] });
      line += removed;
      at += block.length;
    }
    return replacements;
  });
}

function readBlock(lines: readonly string[], from: number): string[] {
  const rest = lines.slice(from);
  const end = rest.findIndex((line) => !/^[-+\\]/.test(line));
  return end === -1 ? rest : rest.slice(0, end);
}

/**
 * True if a reviewer can see everything in a text: no part is hidden, reordered, pushed out of view or not UTF-8, and no line is a command for a bot
 * (`/approve`).
 */
export function isPlainText(text: string): boolean {
  const lines = text.replaceAll('\r\n', '\n');
  return (
    visibleText(lines) === lines &&
    !/\ufffd|^[^\S\n]*\/[a-z_-]+(?:\s|$)/im.test(lines) &&
    lines.split('\n').every((line) => measureGaps(line) < MIN_HIDING_GAP)
  );
}

/** Gaps of this many columns can push text out of view. */
const MIN_HIDING_GAP = 120;

/** Returns the total width of the gaps in a line: runs of more than three blanks, and tabs, which are up to eight columns wide. */
function measureGaps(line: string): number {
  const gaps = line.match(/[^\S\t]{4,}|\t+/g) ?? [];
  return gaps.reduce((sum, gap) => sum + gap.length * (gap.startsWith('\t') ? 8 : 1), 0);
}

/** Creates a hidden comment that identifies a suggestion. */
export function createReplacementKey(replacement: LineReplacement): string {
  const hash = createHash('sha256').update(JSON.stringify(replacement)).digest('hex').slice(0, 16);
  return `<!-- self-heal suggestion ${hash} -->`;
}

/** Renders a suggestion, which the forge offers to commit, in a block that its lines cannot close. */
export function renderSuggestion(replacement: LineReplacement, tag: string): string {
  const fence = createFence(replacement.lines.join('\n'));
  return [createReplacementKey(replacement), `${fence}${tag}`, ...replacement.lines, fence].join('\n');
}
