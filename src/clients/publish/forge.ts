import type { Annotation } from '../../outputs/github.js';
import type { LineReplacement } from './fix.js';

/** A pull request of GitHub, or a merge request of GitLab. */
export interface PullRequest {
  readonly number: number;
  /** The tested commit. */
  readonly head: string;
  readonly branch: string;
  /** True if its branch is in another repository, to which self-heal does not write. */
  readonly isFork: boolean;
}

/** The pull request or branch that a CI run tested, according to the forge. */
export type PublishTarget =
  | { readonly kind: 'change'; readonly change: PullRequest }
  | { readonly kind: 'branch'; readonly branch: string; readonly head: string; readonly isDefault: boolean }
  /** There is nothing to publish to; `why` is a sentence. */
  | { readonly kind: 'none'; readonly why: string };

/** The result of a run, as shown next to its commit. */
export interface CheckRun {
  readonly conclusion: 'success' | 'failure' | 'action_required';
  readonly title: string;
  readonly summary: string;
  readonly annotations: readonly Required<Annotation>[];
}

export interface StoredFile {
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** A file to commit; one without content is deleted. */
export interface CommittedFile {
  readonly path: string;
  readonly content: Buffer | null;
  readonly isExecutable: boolean;
  /** True if the branch already has the file. */
  readonly existsOnBranch: boolean;
  /** True to set `isExecutable`; otherwise the file keeps its mode. */
  readonly setsMode: boolean;
}

/** A commit to make without a checkout. */
export interface NewCommit {
  readonly branch: string;
  readonly parent: string;
  readonly files: readonly CommittedFile[];
  readonly message: string;
  /** True for self-heal's own branch: it is created if it is missing, and its commits are replaced. */
  readonly isOwnBranch: boolean;
}

/** The pull request with the fixes of a branch. */
export interface FixPullRequest {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

/** The operations of a forge that publishing needs. Every method rejects if the forge refuses. */
export interface Forge {
  /** `pull request` or `merge request`. */
  readonly noun: string;
  readonly defaultBranch: string;
  /** The CI run whose artifact is published; the comment contains it, so `apply` can find it. */
  readonly runId: string;
  /** The page of that CI run, with a link to the artifact. */
  readonly runUrl: string;
  readTarget(): Promise<PublishTarget>;
  /** Returns a file at a commit; null if there is none at this path. */
  readFile(path: string, commit: string): Promise<StoredFile | null>;
  /** Returns the comments of this token's own account on a change. */
  listOwnComments(change: number): Promise<readonly OwnComment[]>;
  /** Returns the commit messages of a change. */
  listCommitMessages(change: number): Promise<readonly string[]>;
  createComment(change: number, body: string): Promise<void>;
  editComment(change: number, id: number, body: string): Promise<void>;
  writeCheck(head: string, check: CheckRun): Promise<void>;
  /** Suggests replacements at lines in the diff, unless they are already suggested; returns their number. */
  addSuggestions(change: PullRequest, replacements: readonly LineReplacement[]): Promise<number>;
  /** Returns the newest commit of a branch; null if there is no such branch. */
  readBranchHead(branch: string): Promise<{ readonly commit: string; readonly message: string } | null>;
  /** Returns the id of the new commit; null if the branch has moved on from the parent. */
  createCommit(commit: NewCommit): Promise<string | null>;
  /** Returns the body of this account's newest pull request for a branch, open or closed. */
  readPullRequestBody(branch: string, base: string): Promise<string | null>;
  /** Opens the pull request for a branch, or updates the open one; returns its URL. */
  writePullRequest(proposal: FixPullRequest): Promise<string>;
}

/** A comment by self-heal's own account. */
export interface OwnComment {
  readonly id: number;
  readonly body: string;
}
