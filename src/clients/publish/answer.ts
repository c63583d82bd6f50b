import { applyFix, type CommentOutcome, inFork, movedOn, quarantineRed } from './apply.js';
import type { Artifact } from './artifact.js';
import type { Github } from './github.js';
import { originOf } from './publish.js';

/** A command in a comment. */
export type CommentCommand =
  { readonly kind: 'apply' } | { readonly kind: 'retry' } | { readonly kind: 'skip'; readonly days: number };

/** Reads the command in the first line of a comment; null if there is none. */
export function commandOf(comment: string): CommentCommand | null {
  const [, verb, days] =
    /^\/self-heal +(?:(apply|retry)|skip +([1-9]\d{0,2})d) *(?:\r?\n|$)/.exec(comment) ?? [];
  if (verb === 'apply' || verb === 'retry') return { kind: verb };
  return days === undefined ? null : { kind: 'skip', days: Number(days) };
}

/** Everything that is needed to carry out a comment. */
export interface CommentRequest {
  readonly github: Github;
  /** The artifact of the run that the comment answers; null until that run is known. */
  readonly artifact: Artifact | null;
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The result of a comment. `needs-artifact`: it is allowed, and needs the artifact of this CI run. */
export type CommentResult =
  CommentOutcome | { readonly kind: 'nothing' } | { readonly kind: 'needs-artifact'; readonly run: string };

/**
 * Carries out a `/self-heal` comment on a pull request. It refuses comments of people who may not push to the repository, and branches that have
 * moved on since the run.
 */
export async function answer({ github, artifact, folder, now }: CommentRequest): Promise<CommentResult> {
  const { comment, issue } = github.event;
  const command = comment && issue?.pull_request ? commandOf(comment.body) : null;
  if (!comment || !issue || !command) return { kind: 'nothing' };
  const refused = (says: string): CommentResult => ({ kind: 'refused', says });
  const login = comment.user?.login;
  if (login === undefined || !(await github.mayWrite(login)))
    return refused('Only somebody who may push to this repository can ask for this.');
  const change = await github.change(issue.number);
  const origin = (await github.ownComments(issue.number))
    .map(originOf)
    .find((commentOrigin) => commentOrigin !== null);
  if (!origin) return refused('There is no run of self-heal to answer.');
  if (change.isFork) return refused(inFork);
  if (change.head !== origin.head) return refused(movedOn);
  if (command.kind === 'retry') {
    await github.rerun(Number(origin.run));
    return { kind: 'done', says: 'The tests run again.' };
  }
  if (!artifact) return { kind: 'needs-artifact', run: origin.run };
  const request = { forge: github, artifact, folder };
  return command.kind === 'apply'
    ? applyFix(change, request)
    : quarantineRed(change, request, { days: command.days, now });
}
