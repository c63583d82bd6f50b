import path from 'node:path';
import { parseDocument } from 'yaml';
import { readYaml } from '../../config/read-yaml.js';
import { agentsFileSchema } from '../../config/schema.js';
import { formatTitles } from '../../model/failure.js';
import { counted } from '../../format.js';
import type { Artifact } from './artifact.js';
import type { PullRequest, Forge, NewCommit } from './forge.js';
import {
  commitMessage,
  patchFilesOf,
  isOurCommit,
  originOf,
  redTests,
  sha256Of,
  trailerOf,
} from './publish.js';

/** What to commit to the branch of a change, and the run that it comes from. */
export interface ApplyRequest {
  readonly forge: Forge;
  readonly artifact: Artifact;
  /** The project's folder in the repository. */
  readonly folder: string;
}

/** The result, as a sentence. */
export interface CommentOutcome {
  readonly kind: 'done' | 'refused';
  readonly says: string;
}

type CommitContent = Pick<NewCommit, 'files' | 'message'>;

/** Commits the fix of a run to the branch of a change, if it is the one that our comment shows. */
export async function applyFix(change: PullRequest, request: ApplyRequest): Promise<CommentOutcome> {
  return commitTo(change, request, async () => {
    const comments = await request.forge.ownComments(change.number);
    const commentOrigin = comments.map(originOf).find((origin) => origin !== null);
    if (
      commentOrigin?.head !== change.head ||
      !commentOrigin.fix ||
      commentOrigin.fix !== sha256Of(request.artifact)
    )
      return 'The comment does not show the whole fix, so nobody can have reviewed it.';
    const files = await patchFilesOf(request.artifact, change.head, request.forge);
    return typeof files === 'string'
      ? files
      : { files, message: commitMessage(request.artifact, change.head) };
  });
}

/**
 * Adds the red tests of a run to `quarantine` in agents.yaml, with a date. So the decision is reviewed and merged with the branch, and expires. `now` is
 * in milliseconds since the epoch.
 */
export async function quarantineRed(
  change: PullRequest,
  request: ApplyRequest,
  { days, now }: { readonly days: number; readonly now: number },
): Promise<CommentOutcome> {
  const until = new Date(now + days * 86_400_000).toISOString().slice(0, 10);
  return commitTo(change, request, () => quarantined(change, request, until));
}

/**
 * Commits to the branch of a change. It refuses a branch of a fork, a branch that has moved on since the run, and a branch that already has
 * `limits.perBranch` applied commits, because bots may answer each other.
 */
async function commitTo(
  change: PullRequest,
  request: ApplyRequest,
  contentOf: () => Promise<CommitContent | string>,
): Promise<CommentOutcome> {
  const { forge } = request;
  const refused = (says: string): CommentOutcome => ({ kind: 'refused', says });
  if (change.isFork) return refused(inFork);
  const applied = (await forge.messages(change.number)).filter(isOurCommit).length;
  const most = await perBranch(request);
  if (applied >= most) return refused(`limits.perBranch (${most}) was reached.`);
  const content = await contentOf();
  if (typeof content === 'string') return refused(content);
  const { branch, head } = change;
  const commit = await forge.commit({ ...content, branch, parent: head, isOwnBranch: false });
  return commit !== null
    ? { kind: 'done', says: `${content.message.split('\n')[0]}: committed to ${branch}.` }
    : refused(movedOn);
}

export const inFork = 'Its branch is in another repository, to which nothing is written.';

export const movedOn = 'The branch has moved on since this run: wait for the next one.';

/** Reads `limits.perBranch` on the default branch, because agents.yaml of the change is itself under review; its default if it cannot be read. */
async function perBranch({ forge, folder }: ApplyRequest): Promise<number> {
  const { limits } = agentsFileSchema.shape;
  const file = await forge.read(agentsFileIn(folder), forge.defaultBranch);
  const data = Object(readYaml(contentText(file), null).data) as { limits?: unknown };
  const read = limits.safeParse(data.limits);
  return (read.success ? read.data : limits.parse(undefined)).perBranch;
}

function agentsFileIn(folder: string): string {
  return path.posix.join(folder, 'agents.yaml');
}

function contentText(file: { readonly content: Buffer } | null): string {
  return file?.content.toString('utf8') ?? '';
}

async function quarantined(
  { head }: PullRequest,
  { forge, artifact, folder }: ApplyRequest,
  until: string,
): Promise<CommitContent | string> {
  const names = new Set(redTests(artifact.report).map(({ title }) => formatTitles(title)));
  if (names.size === 0) return 'No test was red in this run.';
  const at = agentsFileIn(folder);
  const file = await forge.read(at, head);
  const before = contentText(file) || 'version: 1\n';
  const doc = parseDocument(before);
  const { quarantine } = agentsFileSchema.shape;
  const listIn = (data: unknown) =>
    quarantine.safeParse((Object(data) as { quarantine?: unknown }).quarantine).data;
  const list = listIn(doc.toJS());
  if (doc.errors.length > 0 || !list) return `${at} cannot be extended: it has mistakes.`;
  const added = [...names].map((name) => ({ test: name.replaceAll('${', () => '$${'), until }));
  const others = list.filter(({ test }) => !added.some((entry) => entry.test === test));
  doc.set('quarantine', [...others, ...added]);
  const content = Buffer.from(doc.toString({ lineWidth: 0 }));
  const [was, is] = [readYaml(before, {}), readYaml(content.toString('utf8'), {})];
  const read = new Set(listIn(is.data)?.map(({ test }) => test));
  if (is.mistakes.length > was.mistakes.length || [...names].some((name) => !read.has(name)))
    return `${at} cannot be extended: a name would not be read as it is written.`;
  const message = `Quarantine ${counted(names.size, 'test')} until ${until}\n\n${trailerOf(artifact, head)}`;
  return {
    files: [{ path: at, content, isExecutable: false, exists: file !== null, setsMode: false }],
    message,
  };
}
