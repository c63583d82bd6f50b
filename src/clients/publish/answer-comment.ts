import { applyFix, type CommentOutcome, branchInFork, branchMovedOn, quarantineRedTests } from './apply.js';
import type { Artifact } from './artifact.js';
import type { Github } from './github.js';
import { readOrigin } from './publish.js';

/** A command in a comment. */
export type CommentCommand =
  { readonly kind: 'apply' } | { readonly kind: 'retry' } | { readonly kind: 'skip'; readonly days: number };

/** Reads the command in the first line of a comment; null if there is none. */
export function parseCommand(comment: string): CommentCommand | null {
  const [, verb, days] =
    /^\/self-heal +(?:(apply|retry)|skip +([1-9]\d{0,2})d) *(?:\r?\n|$)/.exec(comment) ?? [];
  if (verb === 'apply' || verb === 'retry') return { kind: verb };
  return days === undefined ? null : { kind: 'skip', days: Number(days) };
}

export interface CommentRequest {
  readonly github: Github;
  /** The artifact of the run to which the comment replies; null until that run is known. */
  readonly artifact: Artifact | null;
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What became of a comment. `needs-artifact`: the command is allowed, but needs the artifact of this CI run. */
export type CommentResult =
  CommentOutcome | { readonly kind: 'nothing' } | { readonly kind: 'needs-artifact'; readonly run: string };

/**
 * Carries out a `/self-heal` comment on a pull request. Refuses comments of people who may not push to the repository, and branches that have
 * moved on since the run.
 */
export async function answerComment(request: CommentRequest): Promise<CommentResult> {
  const { github, artifact, folder, now } = request;
  const { comment, issue } = github.event;
  const command = comment && issue?.pull_request ? parseCommand(comment.body) : null;
  if (!comment || !issue || !command) return { kind: 'nothing' };
  const refuse = (message: string): CommentResult => ({ kind: 'refused', message });
  const login = comment.user?.login;
  if (login === undefined || !(await github.mayWrite(login)))
    return refuse('Only people who may push to this repository can use this command.');
  const change = await github.readPullRequest(issue.number);
  const origin = (await github.listOwnComments(issue.number))
    .map(readOrigin)
    .find((commentOrigin) => commentOrigin !== null);
  if (!origin) return refuse('self-heal has not commented here, so there is no run for this command.');
  if (change.isFork) return refuse(branchInFork);
  if (change.head !== origin.head) return refuse(branchMovedOn);
  if (command.kind === 'retry') {
    await github.rerunWorkflow(Number(origin.run));
    return { kind: 'done', message: 'The tests are running again.' };
  }
  if (!artifact) return { kind: 'needs-artifact', run: origin.run };
  const target = { forge: github, artifact, folder };
  return command.kind === 'apply'
    ? applyFix(change, target)
    : quarantineRedTests(change, target, { days: command.days, now });
}
