import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { formatPatch, structuredPatch, type StructuredPatch } from 'diff';
import type { FileChange } from '../model/attempt.js';
import type { Change, ContentStore } from './change.js';
import { type FileEdit, type FileState, isExecutable } from './file-state.js';

/** A file with more differing lines is shown as replaced, because the shortest diff takes quadratic time. */
const MAX_DIFFERENCES = 1000;

/** Renders a change, without git, as a patch that `git apply` accepts. The patch is in bytes, because files may not be UTF-8. */
export async function renderChange(
  { edits }: Change,
  contents: ContentStore,
): Promise<{ readonly patch: Buffer; readonly files: readonly FileChange[] }> {
  const parts: string[] = [];
  const files: FileChange[] = [];
  for (const edit of edits) {
    const [before, after] = await Promise.all([
      readBytes(edit.before, contents),
      readBytes(edit.after, contents),
    ]);
    const isBinary = [before, after].some((bytes) => bytes.subarray(0, 8000).includes(0));
    const hunks = isBinary ? [] : compareBytes(before, after);
    const lines = hunks.flatMap((hunk) => hunk.lines);
    const count = (sign: string) => (isBinary ? null : lines.filter((line) => line.startsWith(sign)).length);
    const text = unescapeNames(formatPatch({ ...createHeader(edit), hunks }));
    const index = `index ${computeBlobId(edit.before && before)}..${computeBlobId(edit.after && after)}\n`;
    parts.push(text.replace(/^(?=--- )|(?![^])/m, index));
    if (isBinary && !before.equals(after)) parts.push(renderBinary(before, after));
    files.push({ path: edit.path, added: count('+'), removed: count('-') });
  }
  return { patch: Buffer.from(parts.join(''), 'latin1'), files };
}

/** Unescapes non-ASCII letters in names, as git does with `core.quotePath=false`, to make them readable. */
function unescapeNames(patch: string): string {
  const end = patch.indexOf('\n@@ ');
  const head = end === -1 ? patch : patch.slice(0, end);
  const unescaped = head.replaceAll(/"((?:[^"\\\n]|\\.)*)"/g, (quoted: string, name: string) =>
    // Other escapes need the quotes.
    /\\(?![23]\d\d)/.test(name)
      ? quoted
      : name.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
  );
  return unescaped + patch.slice(head.length);
}

async function readBytes(state: FileState | null, contents: ContentStore): Promise<Buffer> {
  return state === null ? Buffer.alloc(0) : contents.get(state.hash);
}

/** Compares as Latin-1, one character per byte, which keeps every byte. */
function compareBytes(before: Buffer, after: Buffer): StructuredPatch['hunks'] {
  const [old, now] = [before.toString('latin1'), after.toString('latin1')];
  const diff = (options: object) => structuredPatch('', '', old, now, '', '', { context: 3, ...options });
  const shortest = diff({ maxEditLength: MAX_DIFFERENCES });
  if (shortest) return shortest.hunks;
  const removed = structuredPatch('', '', old, '').hunks;
  const added = structuredPatch('', '', '', now).hunks;
  const [removal] = removed;
  const [addition] = added;
  if (!removal || !addition) return [...removed, ...added];
  return [
    {
      ...removal,
      newStart: addition.newStart,
      newLines: addition.newLines,
      lines: [...removal.lines, ...addition.lines],
    },
  ];
}

function createHeader({ path, before, after }: FileEdit): Omit<StructuredPatch, 'hunks'> {
  const [oldMode, newMode] = [before && getGitMode(before), after && getGitMode(after)];
  return {
    isGit: true,
    oldFileName: before ? `a/${path}` : '/dev/null',
    newFileName: after ? `b/${path}` : '/dev/null',
    oldHeader: undefined,
    newHeader: undefined,
    ...(before ? {} : { isCreate: true }),
    ...(after ? {} : { isDelete: true }),
    ...(oldMode && oldMode !== newMode ? { oldMode } : {}),
    ...(newMode && oldMode !== newMode ? { newMode } : {}),
  };
}

function getGitMode(state: FileState): string {
  if (state.kind === 'link') return '120000';
  return isExecutable(state) ? '100755' : '100644';
}

/** `git help diff-format` does not document this format; it follows git's binary.c. `git apply` requires full object ids. */
function renderBinary(before: Buffer, after: Buffer): string {
  return `GIT binary patch\n${encodeLiteral(after)}\n${encodeLiteral(before)}\n`;
}

/** Returns git's id of a file's content; zeros if there is no file. The length of `exampleId`, another id of the repository, shows its hash function. */
export function computeBlobId(content: Uint8Array | null, exampleId = '0'.repeat(40)): string {
  if (content === null) return '0'.repeat(40);
  const hash = createHash(exampleId.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Deflates the content and encodes it in base 85, in lines of at most 52 bytes, each prefixed by a letter for its length. */
function encodeLiteral(content: Buffer): string {
  const packed = deflateSync(content);
  const lines = Array.from({ length: Math.ceil(packed.length / 52) }, (_, line) => {
    const chunk = packed.subarray(line * 52, line * 52 + 52);
    const letter = String.fromCharCode(chunk.length <= 26 ? 64 + chunk.length : 70 + chunk.length);
    return `${letter}${encodeBase85(chunk)}`;
  });
  return `literal ${content.length}\n${lines.join('\n')}\n`;
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

function encodeBase85(chunk: Buffer): string {
  const padded = Buffer.concat([chunk, Buffer.alloc(-chunk.length & 3)]);
  const words = Array.from({ length: padded.length / 4 }, (_, index) => padded.readUInt32BE(index * 4));
  return words
    .map((word) => [4, 3, 2, 1, 0].map((power) => digits[Math.floor(word / 85 ** power) % 85]).join(''))
    .join('');
}
