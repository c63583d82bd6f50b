import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { isKept } from '../../model/attempt.js';
import { exitCodes } from '../../model/exit-codes.js';
import { counted } from '../../format.js';
import { createAnnotations } from '../../outputs/github.js';
import { renderFix, renderMarkdown, escapeProse } from '../../outputs/markdown.js';
import { listOffers, removesTests } from '../../model/escalation.js';
import { readPatch } from '../../run/read-patch.js';
import type { Report } from '../../run/report.js';
import type { Redactor } from '../../secrets/redactor.js';
import { jsonOf } from '../../json-of.js';
import { z } from 'zod';
import { computeBlobId } from '../../workspace/patch-text.js';
import { type Artifact, fixedCauses } from './artifact.js';
import { type PublishedFile, fixedContent, readFix, replacementsOf, isPlainText } from './fix.js';
import type { PullRequest, CheckRun, CommittedFile, Forge, OwnComment } from './forge.js';

/** What is published, and where. */
export interface Publication {
  readonly forge: Forge;
  readonly artifact: Artifact;
  readonly redactor: Pick<Redactor, 'text'>;
  /** The project's folder in the repository, `.` if it is its root. */
  readonly folder: string;
}

/** GitHub takes comments of 65,536 characters. */
const COMMENT_BYTES = 60_000;

/** Publishes a run where its code is reviewed, and returns a sentence for each thing that was done. Publishing it again changes nothing. */
export async function publish(publication: Publication): Promise<string[]> {
  const occasion = await publication.forge.occasion();
  if (occasion.kind === 'none') return [occasion.why];
  if (occasion.kind === 'change') return onChange(occasion.change, publication);
  const { branch, head, isDefault } = occasion;
  if (!isDefault)
    return [`${branch} is neither a ${publication.forge.noun} nor the default branch: nothing to publish.`];
  return onBranch({ branch, head }, publication);
}

async function onChange(change: PullRequest, publication: Publication): Promise<string[]> {
  const { forge, artifact } = publication;
  const number = `${forge.noun} ${change.number}`;
  const page = pageOf(publication);
  await forge.check(change.head, checkOf(publication, page));
  const ownComment = (await forge.ownComments(change.number)).find((comment) => originOf(comment) !== null);
  // A change that has always been green needs no comment.
  if (!ownComment && artifact.report.causes.length === 0) return [`${number} is ${artifact.report.outcome}.`];
  const body = commentOf(change, publication, page);
  if (!ownComment) await forge.createComment(change.number, body);
  else if (ownComment.body !== body) await forge.editComment(change.number, ownComment.id, body);
  const done = ownComment
    ? ownComment.body === body
      ? 'has this comment already'
      : 'has its comment updated'
    : 'has a comment now';
  const suggested = await forge.suggest(change, suggestionsFor(change, publication));
  return [
    `${number} ${done}.`,
    ...(suggested === 0
      ? []
      : [`${counted(suggested, 'suggestion')} at ${suggested === 1 ? 'its line' : 'their lines'}.`]),
  ];
}

const marker = /^<!-- self-heal (\{[^\n]*\}) -->\n/;

const sha = z.string().regex(/^[\da-f]{40,64}$/);

const markerShape = z.object({
  run: z.string().regex(/^\d+$/),
  head: sha,
  /** The SHA-256 of the patch that it shows and offers; null if it offers none. */
  fix: z.string().nullable(),
});

/** The run and the commit that a comment is about. */
export type Origin = z.infer<typeof markerShape>;

/** Reads the origin of a comment that `publish` wrote; null for any other comment. */
export function originOf({ body }: OwnComment): Origin | null {
  return markerShape.safeParse(jsonOf(marker.exec(body)?.[1] ?? '')).data ?? null;
}

function commentOf(
  { head, isFork }: PullRequest,
  { forge, artifact }: Pick<Publication, 'forge' | 'artifact'>,
  { text, fix }: Page,
): string {
  const origin: Origin = { run: forge.runId, head, fix: isFork ? null : fix };
  const commands = commandLines(artifact.report, origin.fix, isFork);
  return `<!-- self-heal ${JSON.stringify(origin)} -->\n${text}\n[The run and its artifact](${forge.runUrl})\n${commands}`;
}

/** Returns the commands that a reviewer can answer with. */
function commandLines(report: Report, fix: string | null, isFork: boolean): string {
  if (isFork || report.causes.length === 0) return '';
  const lines = [
    ...(fix === null ? [] : ['`/self-heal apply` commits the fix to this branch']),
    '`/self-heal retry` runs the tests again',
    ...(redTests(report).length > 0 ? ['`/self-heal skip 30d` quarantines the red tests for 30 days'] : []),
  ];
  return `\nAnswer with a comment:\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
}

const redVerdicts: readonly string[] = ['failed', 'escalated', 'rejected', 'agent-unusable', 'quarantined'];

/** Returns the tests that a person may quarantine. */
export function redTests({ tests }: Report): Report['tests'] {
  return tests.filter(({ verdict }) => redVerdicts.includes(verdict));
}

/** What is said about a run. */
interface Page {
  readonly text: string;
  /** The SHA-256 of the patch that the text contains in full; null if it contains none. */
  readonly fix: string | null;
  /** The text without the patch, for a pull request, which shows it itself, and whose text may close issues. */
  readonly withoutFix: string;
  /** Why the patch must not be committed, as the end of a sentence; null if it may. */
  readonly refused: string | null;
}

/** Returns the SHA-256 of a run's fix. */
export function sha256Of({ fix }: Artifact): string | null {
  return fix && createHash('sha256').update(fix).digest('hex');
}

/** Shows the bytes that would be committed, and offers them only if a reviewer sees all of them. */
function pageOf({ artifact, redactor }: Publication): Page {
  const { report, dir, fix } = artifact;
  const patchText = (patch: string | null) => readPatch(dir, patch, redactor);
  const folder = `.self-heal/runs/${report.runId}`;
  const textWith = (fixText: string) =>
    redactor.text(renderMarkdown(report, { folder, maxBytes: COMMENT_BYTES, patchText, fix: fixText }));
  const withoutFix = textWith('');
  if (fix === null) return { text: withoutFix, fix: null, withoutFix, refused: null };
  const patch = fix.toString('utf8');
  const section = renderFix('The fix, as it will be committed', patch);
  const read = readFix(fix);
  const isVisible = isUtf8(fix) && isPlainText(patch) && redactor.text(section) === section;
  const refused = read.ok
    ? isVisible
      ? null
      : 'it has something that a reviewer would not see'
    : read.error;
  const text = textWith(section);
  if (refused === null && text.includes(section))
    return { text, fix: sha256Of(artifact), withoutFix, refused };
  const why = refused ?? 'it cannot be shown whole here';
  return {
    text: textWith(`\nThe fix is not offered: ${escapeProse(why)}.\n`),
    fix: null,
    withoutFix,
    refused,
  };
}

function checkOf({ artifact, folder }: Publication, { text: summary, fix }: Page): CheckRun {
  const { report } = artifact;
  const { exitCode, outcome, totals } = report;
  const isGreen = exitCode === exitCodes.green;
  const waits = fix !== null || outcome === 'escalated';
  const inProject = path.posix.join('/', folder);
  const annotations = createAnnotations(report, { workspace: '/', project: inProject });
  return {
    conclusion: isGreen ? 'success' : waits ? 'action_required' : 'failure',
    title:
      fix === null
        ? `${outcome}, ${counted(totals.failed, 'test')} failed`
        : `${fixedText(report)} fixed: apply the fix`,
    summary,
    annotations: annotations.flatMap(({ file, line, ...rest }) =>
      file === undefined || line === undefined ? [] : [{ ...rest, file, line }],
    ),
  };
}

/**
 * Returns the suggestions for a review: patches of tests, which only a person may accept, and on a fork, where nothing can be committed, the fix.
 */
function suggestionsFor({ isFork }: PullRequest, { artifact, redactor }: Publication) {
  const { report, fix, dir } = artifact;
  const patches = report.causes.flatMap(({ attempts }) => [
    ...listOffers(attempts).filter((offer) => offer.side === 'tests' && !removesTests(offer)),
    ...attempts.filter(
      (attempt) => isKept(attempt) && attempt.files.every(({ path }) => touchesTests(report, path)),
    ),
  ]);
  const texts = [
    ...(isFork && fix !== null ? [fix] : []),
    ...patches.flatMap(({ patch }) => Buffer.from(readPatch(dir, patch, redactor) ?? '')),
  ];
  const files = texts.flatMap((text) => {
    const read = readFix(text);
    return read.ok ? read.value : [];
  });
  const all = files.flatMap(replacementsOf).filter(({ lines }) => isPlainText(lines.join('\n')));
  const byText = new Map(all.map((replacement) => [JSON.stringify(replacement), replacement]));
  return [...byText.values()];
}

function touchesTests({ tests }: Report, file: string): boolean {
  return tests.some((test) => file === test.file || file.endsWith(`/${test.file}`));
}

/** Opens or updates the one pull request that fixes a branch. */
async function onBranch(
  { branch, head }: { readonly branch: string; readonly head: string },
  publication: Publication,
): Promise<string[]> {
  const { forge, artifact } = publication;
  const page = pageOf(publication);
  await forge.check(head, checkOf(publication, page));
  if (artifact.fix === null) return [`${branch} is ${artifact.report.outcome}: there is no fix to propose.`];
  if (page.refused !== null) return [`The fix is not published: ${page.refused}.`];
  const now = await forge.headOf(branch);
  if (now?.commit !== head)
    return [`${branch} has moved on from ${head.slice(0, 7)}: a newer run publishes.`];
  const fixBranch = `self-heal/fix-${branch}`;
  const fixHead = await forge.headOf(fixBranch);
  // An amended commit has our message, too, so only its id says that it is ours.
  if (fixHead && fixHead.commit !== commitIn(await forge.proposalBody(fixBranch, branch)))
    return [
      `Somebody has committed to ${fixBranch}, so it was not changed; delete it, and the next run makes it anew.`,
    ];
  const message = commitMessage(artifact, head);
  let commit: string | null = fixHead?.commit ?? null;
  if (fixHead?.message.trim() !== message.trim()) {
    const files = await patchFilesOf(artifact, head, forge);
    if (typeof files === 'string') return [files];
    commit = await forge.commit({ branch: fixBranch, parent: head, files, message, isOwnBranch: true });
  }
  const title = `Fix ${fixedText(artifact.report)}`;
  const body = `<!-- self-heal ${JSON.stringify({ commit })} -->\n${page.withoutFix}\n[The run and its artifact](${forge.runUrl})\n`;
  return [`${await forge.propose({ branch: fixBranch, base: branch, title, body })} has the fix.`];
}

/** A suite that did not start has no red tests. */
function fixedText({ totals }: Report): string {
  return totals.healed > 0 ? counted(totals.healed, 'failing test') : 'the suite itself';
}

const trailer = 'Self-Heal-Run';

/** Returns the id of the commit that the body of our own pull request names; null if it names none. */
function commitIn(body: string | null): string | null {
  const named = z.object({ commit: sha }).safeParse(jsonOf(marker.exec(body ?? '')?.[1] ?? ''));
  return named.data?.commit ?? null;
}

/** Returns the trailer of a commit that a run leads to. */
export function trailerOf({ report }: Artifact, head: string): string {
  return `${trailer}: ${report.runId} on ${head}\n`;
}

/** Whether the message of a commit is one of `publish`. */
export function isOurCommit(message: string): boolean {
  return new RegExp(`^${trailer}: `, 'm').test(message);
}

/** Returns the message of a commit with a run's fix. */
export function commitMessage(artifact: Artifact, head: string): string {
  const headlines = fixedCauses(artifact.report).map(({ headline }) => `- ${commitLine(headline)}`);
  return `Fix ${counted(headlines.length, 'cause')} of failing tests\n\n${headlines.join('\n')}\n\n${trailerOf(artifact, head)}`;
}

/** Reduces a text to words, so that no commit closes an issue, skips CI, mentions anybody or has a trailer of its own. */
function commitLine(text: string): string {
  return text
    .slice(0, 200)
    .replaceAll(/[^\p{L}\p{M}\p{N}_.,'"()]+/gu, ' ')
    .trim();
}

/** Returns the files of a fix as a commit has to hold them, or why it cannot be committed, as a sentence. */
export async function patchFilesOf(
  { fix }: Artifact,
  head: string,
  forge: Forge,
): Promise<readonly CommittedFile[] | string> {
  if (fix === null) return 'The run fixed nothing.';
  const read = readFix(fix);
  if (!read.ok) return `The fix is not published: ${read.error}.`;
  const files = await Promise.all(read.value.map((file) => committed(file, head, forge)));
  const clash = files.find((file) => typeof file === 'string');
  return clash ?? files.filter((file) => typeof file !== 'string');
}

async function committed(file: PublishedFile, head: string, forge: Forge): Promise<CommittedFile | string> {
  const before = await forge.read(file.path, head);
  const content = fixedContent(file, before?.content ?? null);
  if (content === 'conflict' || !isMade(file, before?.content ?? null, content))
    return `The fix is not published: ${file.path} differs from the version that it was made for.`;
  const isExecutable = file.isExecutable ?? before?.isExecutable ?? false;
  const setsMode = file.isExecutable !== null;
  return { path: file.path, content, isExecutable, exists: before !== null, setsMode };
}

/**
 * Whether a fix was made for this content and makes that of it: a hunk may also fit elsewhere, in a file that differs from the one of the run. Where only
 * the mode changes, a patch names no content.
 */
function isMade({ blobs }: PublishedFile, before: Buffer | null, after: Buffer | null): boolean {
  return blobs === null || (computeBlobId(before) === blobs.before && computeBlobId(after) === blobs.after);
}
