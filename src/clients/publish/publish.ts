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
import { parseJson } from '../../parse-json.js';
import { z } from 'zod';
import { computeBlobId } from '../../workspace/patch-text.js';
import { type Artifact, listFixedCauses } from './artifact.js';
import { type PublishedFile, applyToContent, readFix, listReplacements, isPlainText } from './fix.js';
import type { PullRequest, CheckRun, CommittedFile, Forge, OwnComment } from './forge.js';

export interface Publication {
  readonly forge: Forge;
  readonly artifact: Artifact;
  readonly redactor: Pick<Redactor, 'text'>;
  /** The project's folder in the repository, `.` if it is its root. */
  readonly folder: string;
}

/** GitHub limits comments to 65,536 characters. */
const MAX_COMMENT_BYTES = 60_000;

/** Publishes a run's result in its pull or merge request; returns a sentence for each action. Publishing again changes nothing. */
export async function publish(publication: Publication): Promise<string[]> {
  const target = await publication.forge.readTarget();
  if (target.kind === 'none') return [target.why];
  if (target.kind === 'change') return publishOnChange(target.change, publication);
  const { branch, head, isDefault } = target;
  if (!isDefault)
    return [`${branch} is neither a ${publication.forge.noun} nor the default branch: nothing to publish.`];
  return publishOnBranch({ branch, head }, publication);
}

async function publishOnChange(change: PullRequest, publication: Publication): Promise<string[]> {
  const { forge, artifact } = publication;
  const number = `${forge.noun} ${change.number}`;
  const page = createPage(publication);
  await forge.writeCheck(change.head, createCheck(publication, page));
  const ownComment = (await forge.listOwnComments(change.number)).find(
    (comment) => readOrigin(comment) !== null,
  );
  // A change that has always been green needs no comment.
  if (!ownComment && artifact.report.causes.length === 0) return [`${number} is ${artifact.report.outcome}.`];
  const body = renderComment(change, publication, page);
  if (!ownComment) await forge.createComment(change.number, body);
  else if (ownComment.body !== body) await forge.editComment(change.number, ownComment.id, body);
  const result = !ownComment
    ? 'has a new comment'
    : ownComment.body === body
      ? 'has this comment already'
      : 'has an updated comment';
  const suggested = await forge.addSuggestions(change, createSuggestions(change, publication));
  return [
    `${number} ${result}.`,
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
  /** The SHA-256 of the patch that it offers; null if it offers none. */
  fix: z.string().nullable(),
});

/** The run and the commit of a comment. */
export type Origin = z.infer<typeof markerShape>;

/** Reads the origin of a comment by `publish`; null for any other comment. */
export function readOrigin({ body }: OwnComment): Origin | null {
  return markerShape.safeParse(parseJson(marker.exec(body)?.[1] ?? '')).data ?? null;
}

function renderComment(
  { head, isFork }: PullRequest,
  { forge, artifact }: Pick<Publication, 'forge' | 'artifact'>,
  { text, fix }: Page,
): string {
  const origin: Origin = { run: forge.runId, head, fix: isFork ? null : fix };
  const commands = renderCommands(artifact.report, origin.fix, isFork);
  return `<!-- self-heal ${JSON.stringify(origin)} -->\n${text}\n[The run and its artifact](${forge.runUrl})\n${commands}`;
}

/** Renders the commands that a reviewer can use in a reply. */
function renderCommands(report: Report, fix: string | null, isFork: boolean): string {
  if (isFork || report.causes.length === 0) return '';
  const lines = [
    ...(fix === null ? [] : ['`/self-heal apply` commits the fix to this branch']),
    '`/self-heal retry` runs the tests again',
    ...(listRedTests(report).length > 0
      ? ['`/self-heal skip 30d` quarantines the red tests for 30 days']
      : []),
  ];
  return `\nAnswer with a comment:\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
}

const redVerdicts: readonly string[] = ['failed', 'escalated', 'rejected', 'agent-unusable', 'quarantined'];

/** Returns the tests that a person may quarantine. */
export function listRedTests({ tests }: Report): Report['tests'] {
  return tests.filter(({ verdict }) => redVerdicts.includes(verdict));
}

/** The text about a run, and the fix that it offers. */
interface Page {
  readonly text: string;
  /** The SHA-256 of the patch that the text contains in full; null if it contains none. */
  readonly fix: string | null;
  /** The text without the patch, for the body of a pull request, which shows its changes anyway, and in which the patch could close issues. */
  readonly withoutFix: string;
  /** Why the patch must not be committed, as the end of a sentence; null if it may. */
  readonly refusal: string | null;
}

/** Returns the SHA-256 of a run's fix. */
export function hashFix({ fix }: Artifact): string | null {
  return fix && createHash('sha256').update(fix).digest('hex');
}

/** Renders the text about a run with its patch, which it offers to commit only if a reviewer can see all of it. */
function createPage({ artifact, redactor }: Publication): Page {
  const { report, dir, fix } = artifact;
  const readPatchText = (patch: string | null) => readPatch(dir, patch, redactor);
  const folder = `.self-heal/runs/${report.runId}`;
  const renderText = (fixText: string) =>
    redactor.text(
      renderMarkdown(report, { folder, maxBytes: MAX_COMMENT_BYTES, patchText: readPatchText, fix: fixText }),
    );
  const withoutFix = renderText('');
  if (fix === null) return { text: withoutFix, fix: null, withoutFix, refusal: null };
  const patch = fix.toString('utf8');
  const section = renderFix('The fix, as it will be committed', patch);
  const read = readFix(fix);
  const isVisible = isUtf8(fix) && isPlainText(patch) && redactor.text(section) === section;
  const refusal = read.ok
    ? isVisible
      ? null
      : 'it contains text that a reviewer would not see'
    : read.error;
  const text = renderText(section);
  if (refusal === null && text.includes(section))
    return { text, fix: hashFix(artifact), withoutFix, refusal };
  const why = refusal ?? 'it is too long to be shown here';
  return {
    text: renderText(`\nThe fix is not offered: ${escapeProse(why)}.\n`),
    fix: null,
    withoutFix,
    refusal,
  };
}

function createCheck({ artifact, folder }: Publication, { text: summary, fix }: Page): CheckRun {
  const { report } = artifact;
  const { exitCode, outcome, totals } = report;
  const isGreen = exitCode === exitCodes.green;
  const needsPerson = fix !== null || outcome === 'escalated';
  const inProject = path.posix.join('/', folder);
  const annotations = createAnnotations(report, { workspace: '/', project: inProject });
  return {
    conclusion: isGreen ? 'success' : needsPerson ? 'action_required' : 'failure',
    title:
      fix === null
        ? `${outcome}, ${counted(totals.failed, 'test')} failed`
        : `${describeFixedTests(report)} fixed: apply the fix`,
    summary,
    annotations: annotations.flatMap(({ file, line, ...rest }) =>
      file === undefined || line === undefined ? [] : [{ ...rest, file, line }],
    ),
  };
}

/** Creates the suggestions for a review: patches of tests, which only a person may accept, and on a fork, to which self-heal cannot commit, the fix. */
function createSuggestions({ isFork }: PullRequest, { artifact, redactor }: Publication) {
  const { report, fix, dir } = artifact;
  const patches = report.causes.flatMap(({ attempts }) => [
    ...listOffers(attempts).filter((offer) => offer.side === 'tests' && !removesTests(offer)),
    ...attempts.filter(
      (attempt) => isKept(attempt) && attempt.files.every(({ path }) => isTestFile(report, path)),
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
  const all = files.flatMap(listReplacements).filter(({ lines }) => isPlainText(lines.join('\n')));
  const byText = new Map(all.map((replacement) => [JSON.stringify(replacement), replacement]));
  return [...byText.values()];
}

function isTestFile({ tests }: Report, file: string): boolean {
  return tests.some((test) => file === test.file || file.endsWith(`/${test.file}`));
}

/** Opens or updates the one pull request that fixes a branch. */
async function publishOnBranch(
  { branch, head }: { readonly branch: string; readonly head: string },
  publication: Publication,
): Promise<string[]> {
  const { forge, artifact } = publication;
  const page = createPage(publication);
  await forge.writeCheck(head, createCheck(publication, page));
  if (artifact.fix === null) return [`${branch} is ${artifact.report.outcome}: there is no fix to propose.`];
  if (page.refusal !== null) return [`The fix is not published: ${page.refusal}.`];
  const now = await forge.readBranchHead(branch);
  if (now?.commit !== head)
    return [`${branch} has moved on from ${head.slice(0, 7)}: a newer run publishes.`];
  const fixBranch = `self-heal/fix-${branch}`;
  const fixHead = await forge.readBranchHead(fixBranch);
  // An amended commit still has our message, so only its id shows whether it is ours.
  if (fixHead && fixHead.commit !== readCommit(await forge.readPullRequestBody(fixBranch, branch)))
    return [
      `Somebody has committed to ${fixBranch}, so it was not changed; delete it, and the next run creates it again.`,
    ];
  const message = createCommitMessage(artifact, head);
  let commit: string | null = fixHead?.commit ?? null;
  if (fixHead?.message.trim() !== message.trim()) {
    const files = await createCommittedFiles(artifact, head, forge);
    if (typeof files === 'string') return [files];
    commit = await forge.createCommit({ branch: fixBranch, parent: head, files, message, isOwnBranch: true });
  }
  const title = `Fix ${describeFixedTests(artifact.report)}`;
  const body = `<!-- self-heal ${JSON.stringify({ commit })} -->\n${page.withoutFix}\n[The run and its artifact](${forge.runUrl})\n`;
  return [`${await forge.writePullRequest({ branch: fixBranch, base: branch, title, body })} has the fix.`];
}

/** Counts the healed tests, or names the suite itself if no test was healed. */
function describeFixedTests({ totals }: Report): string {
  return totals.healed > 0 ? counted(totals.healed, 'failing test') : 'the suite itself';
}

const trailer = 'Self-Heal-Run';

/** Returns the id of the commit that the body of our own pull request names; null if it names none. */
function readCommit(body: string | null): string | null {
  const origin = z.object({ commit: sha }).safeParse(parseJson(marker.exec(body ?? '')?.[1] ?? ''));
  return origin.data?.commit ?? null;
}

/** Creates the trailer for a commit with a run's fix. */
export function createTrailer({ report }: Artifact, head: string): string {
  return `${trailer}: ${report.runId} on ${head}\n`;
}

/** True if `publish` wrote a commit message. */
export function isOurCommit(message: string): boolean {
  return new RegExp(`^${trailer}: `, 'm').test(message);
}

export function createCommitMessage(artifact: Artifact, head: string): string {
  const headlines = listFixedCauses(artifact.report).map(({ headline }) => `- ${formatCommitLine(headline)}`);
  return `Fix ${counted(headlines.length, 'cause')} of failing tests\n\n${headlines.join('\n')}\n\n${createTrailer(artifact, head)}`;
}

/** Reduces a text to plain words, because a commit message can close issues, skip CI, mention people or have trailers. */
function formatCommitLine(text: string): string {
  return text
    .slice(0, 200)
    .replaceAll(/[^\p{L}\p{M}\p{N}_.,'"()]+/gu, ' ')
    .trim();
}

/** Creates the files to commit for a fix; returns a sentence if it cannot be committed. */
export async function createCommittedFiles(
  { fix }: Artifact,
  head: string,
  forge: Forge,
): Promise<readonly CommittedFile[] | string> {
  if (fix === null) return 'The run fixed nothing.';
  const read = readFix(fix);
  if (!read.ok) return `The fix is not published: ${read.error}.`;
  const files = await Promise.all(read.value.map((file) => createCommittedFile(file, head, forge)));
  const problem = files.find((file) => typeof file === 'string');
  return problem ?? files.filter((file) => typeof file !== 'string');
}

async function createCommittedFile(
  file: PublishedFile,
  head: string,
  forge: Forge,
): Promise<CommittedFile | string> {
  const before = await forge.readFile(file.path, head);
  const content = applyToContent(file, before?.content ?? null);
  if (content === 'conflict' || !matchesBlobs(file, before?.content ?? null, content))
    return `The fix is not published: ${file.path} differs from the version that it was made for.`;
  const isExecutable = file.isExecutable ?? before?.isExecutable ?? false;
  const setsMode = file.isExecutable !== null;
  return { path: file.path, content, isExecutable, existsOnBranch: before !== null, setsMode };
}

/**
 * True if a fix was made for exactly these contents; a hunk could also apply to another version of the file. A patch that only changes a mode has no
 * content ids.
 */
function matchesBlobs({ blobs }: PublishedFile, before: Buffer | null, after: Buffer | null): boolean {
  return blobs === null || (computeBlobId(before) === blobs.before && computeBlobId(after) === blobs.after);
}
