import { posix } from 'node:path';
import { parseDocument } from 'yaml';
import { readYaml } from '../../config/read-yaml.js';
import { agentsFileSchema } from '../../config/schema.js';
import { formatTitles } from '../../model/failure.js';
import { counted } from '../../format.js';
import type { Artifact } from './artifact.js';
import type { PullRequest, Forge, NewCommit } from './forge.js';
import {
  createCommitMessage,
  createCommittedFiles,
  isOurCommit,
  readOrigin,
  listRedTests,
  hashFix,
  createTrailer,
} from './publish.js';

export interface ApplyRequest {
  readonly forge: Forge;
  readonly artifact: Artifact;
  /** The project's folder in the repository. */
  readonly folder: string;
}

export interface CommentOutcome {
  readonly kind: 'done' | 'refused';
  /** A sentence. */
  readonly message: string;
}

type CommitContent = Pick<NewCommit, 'files' | 'message'>;

/** Commits the fix of a run to the branch of a change, if our comment shows exactly this fix. */
export async function applyFix(change: PullRequest, request: ApplyRequest): Promise<CommentOutcome> {
  return commitToBranch(change, request, async () => {
    const comments = await request.forge.listOwnComments(change.number);
    const commentOrigin = comments.map(readOrigin).find((origin) => origin !== null);
    if (
      commentOrigin?.head !== change.head ||
      !commentOrigin.fix ||
      commentOrigin.fix !== hashFix(request.artifact)
    )
      return 'The comment does not show the whole fix, so nobody can have reviewed it.';
    const files = await createCommittedFiles(request.artifact, change.head, request.forge);
    return typeof files === 'string'
      ? files
      : { files, message: createCommitMessage(request.artifact, change.head) };
  });
}

/**
 * Adds a run's red tests to `quarantine` in agents.yaml, with an end date. The quarantine is reviewed and merged with the branch. `now` is in milliseconds
 * since the epoch.
 */
export async function quarantineRedTests(
  change: PullRequest,
  request: ApplyRequest,
  { days, now }: { readonly days: number; readonly now: number },
): Promise<CommentOutcome> {
  const until = new Date(now + days * 86_400_000).toISOString().slice(0, 10);
  return commitToBranch(change, request, () => createQuarantineCommit(change, request, until));
}

/**
 * Commits to the branch of a change. Refuses a branch of a fork, a branch that has moved on since the run, and a branch with `limits.perBranch` such
 * commits, because bots may answer each other.
 */
async function commitToBranch(
  change: PullRequest,
  request: ApplyRequest,
  createContent: () => Promise<CommitContent | string>,
): Promise<CommentOutcome> {
  const { forge } = request;
  const refuse = (message: string): CommentOutcome => ({ kind: 'refused', message });
  if (change.isFork) return refuse(branchInFork);
  const applied = (await forge.listCommitMessages(change.number)).filter(isOurCommit).length;
  const limit = await readPerBranchLimit(request);
  if (applied >= limit) return refuse(`limits.perBranch (${limit}) was reached.`);
  const content = await createContent();
  if (typeof content === 'string') return refuse(content);
  const { branch, head } = change;
  const commit = await forge.createCommit({ ...content, branch, parent: head, isOwnBranch: false });
  return commit !== null
    ? { kind: 'done', message: `${content.message.split('\n')[0]}: committed to ${branch}.` }
    : refuse(branchMovedOn);
}

export const branchInFork = 'Its branch is in another repository, to which self-heal does not write.';

export const branchMovedOn = 'The branch has moved on since this run: wait for the next one.';

/** Reads `limits.perBranch` on the default branch, because the change under review may include agents.yaml. Returns the default if that fails. */
async function readPerBranchLimit({ forge, folder }: ApplyRequest): Promise<number> {
  const { limits } = agentsFileSchema.shape;
  const file = await forge.readFile(getAgentsFilePath(folder), forge.defaultBranch);
  const data = Object(readYaml(decodeText(file), null).data) as { limits?: unknown };
  const read = limits.safeParse(data.limits);
  return (read.success ? read.data : limits.parse(undefined)).perBranch;
}

function getAgentsFilePath(folder: string): string {
  return posix.join(folder, 'agents.yaml');
}

function decodeText(file: { readonly content: Buffer } | null): string {
  return file?.content.toString('utf8') ?? '';
}

async function createQuarantineCommit(
  { head }: PullRequest,
  { forge, artifact, folder }: ApplyRequest,
  until: string,
): Promise<CommitContent | string> {
  const names = new Set(listRedTests(artifact.report).map(({ title }) => formatTitles(title)));
  if (names.size === 0) return 'No test was red in this run.';
  const path = getAgentsFilePath(folder);
  const file = await forge.readFile(path, head);
  const before = decodeText(file) || 'version: 1\n';
  const doc = parseDocument(before);
  const { quarantine } = agentsFileSchema.shape;
  const readList = (data: unknown) =>
    quarantine.safeParse((Object(data) as { quarantine?: unknown }).quarantine).data;
  const list = readList(doc.toJS());
  if (doc.errors.length > 0 || !list) return `${path} cannot be extended: it has mistakes.`;
  const added = [...names].map((name) => ({ test: name.replaceAll('${', () => '$${'), until }));
  const others = list.filter(({ test }) => !added.some((entry) => entry.test === test));
  doc.set('quarantine', [...others, ...added]);
  const content = Buffer.from(doc.toString({ lineWidth: 0 }));
  const [old, extended] = [readYaml(before, {}), readYaml(content.toString('utf8'), {})];
  const quarantined = new Set(readList(extended.data)?.map(({ test }) => test));
  if (extended.mistakes.length > old.mistakes.length || [...names].some((name) => !quarantined.has(name)))
    return `Nothing can be added to ${path}: a test's name would not survive being written as YAML.`;
  const message = `Quarantine ${counted(names.size, 'test')} until ${until}\n\n${createTrailer(artifact, head)}`;
  return {
    files: [{ path, content, isExecutable: false, existsOnBranch: file !== null, setsMode: false }],
    message,
  };
}
