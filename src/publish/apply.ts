import path from 'node:path';
import { parseDocument } from 'yaml';
import { readYaml } from '../config/read-yaml.js';
import { agentsFileSchema } from '../config/schema.js';
import { testName } from '../core/failure.js';
import { counted } from '../format.js';
import type { Artifact } from './artifact.js';
import type { Change, Forge, NewCommit } from './forge.js';
import { commitMessage, filesOf, isOurCommit, redTests, trailerOf } from './publish.js';

/** What to commit to the branch of a change, and the run that it comes from. */
export interface Applying {
  readonly forge: Forge;
  readonly artifact: Artifact;
  /** The project's folder in the repository. */
  readonly folder: string;
}

/** What became of it, as a sentence. */
export interface Applied {
  readonly kind: 'done' | 'refused';
  readonly says: string;
}

type Made = Pick<NewCommit, 'files' | 'message'>;

/** Commits the fix of a run to the branch of a change. */
export async function applyFix(change: Change, applying: Applying): Promise<Applied> {
  return commitTo(change, applying, async () => {
    const files = await filesOf(applying.artifact, change.head, applying.forge);
    return typeof files === 'string'
      ? files
      : { files, message: commitMessage(applying.artifact, change.head) };
  });
}

/**
 * Adds the red tests of a run to `quarantine` in agents.yaml, so that the decision is reviewed and merged with the branch, and ends by itself. `now`
 * is in milliseconds since the epoch.
 */
export async function quarantineRed(
  change: Change,
  applying: Applying,
  { days, now }: { readonly days: number; readonly now: number },
): Promise<Applied> {
  const until = new Date(now + days * 86_400_000).toISOString().slice(0, 10);
  return commitTo(change, applying, () => quarantined(change, applying, until));
}

/**
 * A branch of a fork is left alone, and one with as many applied commits as `limits.perBranch` allows, since bots may answer each other. A
 * branch that has moved on since the run refuses the commit.
 */
async function commitTo(
  change: Change,
  applying: Applying,
  make: () => Promise<Made | string>,
): Promise<Applied> {
  const { forge } = applying;
  const refused = (says: string): Applied => ({ kind: 'refused', says });
  if (change.isFork) return refused(inFork);
  const applied = (await forge.messages(change.number)).filter(isOurCommit).length;
  const most = await perBranch(applying);
  if (applied >= most) return refused(`limits.perBranch (${most}) was reached.`);
  const made = await make();
  if (typeof made === 'string') return refused(made);
  const { branch, head } = change;
  const isMade = await forge.commit({ ...made, branch, parent: head, isOwnBranch: false });
  return isMade
    ? { kind: 'done', says: `${made.message.split('\n')[0]}: committed to ${branch}.` }
    : refused(movedOn);
}

/** Why nothing is written to the branch of a fork. */
export const inFork = 'Its branch is in another repository, to which nothing is written.';

/** Why nothing is written to a branch that is not what the run has tested. */
export const movedOn = 'The branch has moved on since this run: wait for the next one.';

/** The file of the default branch counts, since that of the change is what is under review; the default, if it cannot be read. */
async function perBranch({ forge, folder }: Applying): Promise<number> {
  const { limits } = agentsFileSchema.shape;
  const file = await forge.read(agentsFileIn(folder), forge.defaultBranch);
  const data = Object(readYaml(textOf(file), null).data) as { limits?: unknown };
  const read = limits.safeParse(data.limits);
  return (read.success ? read.data : limits.parse(undefined)).perBranch;
}

function agentsFileIn(folder: string): string {
  return path.posix.join(folder, 'agents.yaml');
}

function textOf(file: { readonly content: Buffer } | null): string {
  return file?.content.toString('utf8') ?? '';
}

async function quarantined(
  { head }: Change,
  { forge, artifact, folder }: Applying,
  until: string,
): Promise<Made | string> {
  const names = new Set(redTests(artifact.report).map(({ title }) => testName(title)));
  if (names.size === 0) return 'No test was red in this run.';
  const at = agentsFileIn(folder);
  const file = await forge.read(at, head);
  const doc = parseDocument(textOf(file) || 'version: 1\n');
  const { quarantine } = agentsFileSchema.shape;
  const there = quarantine.safeParse((Object(doc.toJS()) as { quarantine?: unknown }).quarantine);
  if (doc.errors.length > 0 || !there.success) return `${at} cannot be extended: it has mistakes.`;
  const kept = there.data.filter(({ test }) => !names.has(test));
  doc.set('quarantine', [...kept, ...[...names].map((test) => ({ test, until }))]);
  const content = Buffer.from(doc.toString({ lineWidth: 0 }));
  const message = `Quarantine ${counted(names.size, 'test')} until ${until}\n\n${trailerOf(artifact, head)}`;
  return {
    files: [{ path: at, content, isExecutable: false, exists: file !== null, setsMode: false }],
    message,
  };
}
