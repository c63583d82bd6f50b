import {
  type BlameBase,
  type BlamedCommit,
  type BlamedHunk,
  describeBlame,
  shortenId,
} from '../model/blame.js';
import { cutMiddle, inline } from '../fenced.js';
import { counted } from '../format.js';
import type { AgentContext } from './context.js';
import { type Block, renderSection, type Section, takeFirstTexts } from './prompt-section.js';

/** The maximum number of characters of hunks: half of the prompt for the blamed ones, and as much for the likeliest commit. */
const MAX_CHANGES = 4_000;

/** The minimum room for the blamed change, if the prompt has that much left. */
const MIN_BLAME = 1_000;

/** Renders the change that broke the test, which comes before everything else (BL-3). */
export function renderBlame({ blame }: AgentContext): Section | null {
  if (!blame) return null;
  const render = renderSection({
    before: `${describeBlame(blame, inline)}.${formatAuthors(blame)}`,
    block: createHunksBlock(blame.hunks, 'context.json'),
    after:
      'The change may be intended. Then adapt the test or other code to it. Revert it only as a last resort.',
  });
  return (room) => render(Math.max(room / 2, Math.min(room, MIN_BLAME)));
}

type ShownHunk = Pick<BlamedHunk, 'file' | 'line' | 'old' | 'now'>;

/** The most relevant hunks get at least this many characters each, before less relevant ones are shown. */
const MIN_HUNK = 400;

/** Creates a block of hunks, the most relevant first. `source` says where to find the hunks that do not fit. */
function createHunksBlock(hunks: readonly ShownHunk[], source: string): Block {
  const texts = hunks.map((hunk) => `@@ ${hunk.file}:${hunk.line}\n${formatDiff(hunk)}`);
  return {
    text: texts.join('\n'),
    language: 'diff',
    longest: MAX_CHANGES,
    shorten: (length) => {
      const shown = takeHunks(texts, length);
      const more = texts.length - shown.length;
      return [...shown, ...(more > 0 ? [`[… ${counted(more, 'more change')}: ${source} …]`] : [])].join('\n');
    },
  };
}

/** Returns the first of these texts, in at most `room` characters. Cuts only the longest ones, so that most remain whole. */
function takeHunks(texts: readonly string[], room: number): string[] {
  for (let count = texts.length; count > 0; count -= 1) {
    const longest = findLongestThatFits(texts.slice(0, count), room);
    if (count === 1 || longest >= MIN_HUNK)
      return texts.slice(0, count).map((text) => cutMiddle(text, longest));
  }
  return [];
}

/** Returns the length to which the longest texts must be cut for all of them to fit, each on lines of its own. */
function findLongestThatFits(texts: readonly string[], room: number): number {
  const sorted = texts.map(({ length }) => length + 1).toSorted((a, b) => a - b);
  let remaining = room;
  for (const [at, length] of sorted.entries()) {
    const share = Math.floor(remaining / (sorted.length - at));
    if (length > share) return share - 1;
    remaining -= length;
  }
  return Infinity;
}

/** Formats a hunk as removed and added lines. */
export function formatDiff({ old, now }: Pick<BlamedHunk, 'old' | 'now'>): string {
  return [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)].join('\n');
}

function formatAuthors({ hunks }: NonNullable<AgentContext['blame']>): string {
  const commits = new Map(hunks.flatMap(({ commit }) => (commit ? [[commit.id, commit]] : [])));
  return [...commits.values()]
    .slice(0, 3)
    .map(({ id, subject, author }) => ` ${shortenId(id)} is ${inline(subject)} by ${inline(author)}.`)
    .join('');
}

/** The minimum length of the timeline, which changes must not displace. */
const MIN_TIMELINE = 600;
/** The length of the list of other commits: next to a commit's hunks, or alone. */
const COMMIT_LIST_LENGTHS = { nextToHunks: 400, alone: 1_000 };

/** Renders the changes since the test was green: the hunks of the most likely commit, most relevant first, and a list of the other commits (BL-3). */
export function renderChanges({ changes, blame, unblamed }: AgentContext): Section | null {
  if (!changes) return null;
  const { base, commit, hunks, others, packages } = changes;
  const isBlamed = ({ file, line }: Pick<BlamedHunk, 'file' | 'line'>) =>
    blame?.hunks.some((hunk) => hunk.file === file && hunk.line === line);
  const otherHunks = hunks.filter((hunk) => !isBlamed(hunk));
  if (otherHunks.length + others.length === 0) return null;
  const hasHunks = otherHunks.length > 0;
  const list = takeFirstTexts(
    others.map(({ commit: other, files }) => `- ${formatCommit(other)}: ${formatFiles(files)}`),
    hasHunks ? COMMIT_LIST_LENGTHS.nextToHunks : COMMIT_LIST_LENGTHS.alone,
  );
  const after = [
    ...packages.map((text) => `Package ${inline(text)}.`),
    ...(unblamed && !blame ? [`Reverted and run: ${inline(unblamed)}.`] : []),
    ...(list.length > 0
      ? [`${hasHunks ? 'Also changed' : 'Changed'} (\`git show <id>\`):\n${list.join('\n')}`]
      : []),
  ].join('\n\n');
  const since = `${sinceWords[base.from]} ${shortenId(base.commit)}`;
  const shown = blame ? 'the rest of the blamed commit' : 'the commit that most likely broke the test';
  const isUncommitted = commit === null && base.from === 'head';
  const render = renderSection({
    title: 'What changed',
    before: hasHunks && !isUncommitted ? `${since}, ${shown}: ${formatCommit(commit)}.` : `${since}:`,
    ...(hasHunks ? { block: createHunksBlock(otherHunks, formatShowCommand(commit, base)) } : {}),
    after,
  });
  return (room) => render(room - MIN_TIMELINE);
}

function formatCommit(commit: BlamedCommit | null): string {
  return commit
    ? `${shortenId(commit.id)} ${commit.date.slice(0, 10)} ${inline(commit.subject.slice(0, 80))}`
    : 'not committed';
}

/** Names the first of these files. */
export function formatFiles(files: readonly string[]): string {
  const named = files.slice(0, 5).map(inline).join(', ');
  return files.length > 5 ? `${named} and ${files.length - 5} more` : named;
}

function formatShowCommand(commit: BlamedCommit | null, { commit: base }: BlameBase): string {
  return commit ? `git show ${shortenId(commit.id)}` : `git diff ${shortenId(base)}`;
}

const sinceWords: Record<BlameBase['from'], string> = {
  'last-green': 'Since the test was last green, at',
  'merge-base': 'Since the branch began, at',
  head: 'Not committed, on top of',
  recent: 'In the last commits, since',
  named: 'Since',
};
