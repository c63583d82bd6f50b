import type { Annotation } from '../../outputs/github.js';
import type { LineReplacement } from './fix.js';

/** A pull request of GitHub, or a merge request of GitLab. */
export interface PullRequest {
  readonly number: number;
  /** The commit that the run tested. */
  readonly head: string;
  readonly branch: string;
  /** Whether its branch is in another repository, to which nothing is written. */
  readonly isFork: boolean;
}

/** The reason for a CI run, according to the forge. */
export type Occasion =
  | { readonly kind: 'change'; readonly change: PullRequest }
  | { readonly kind: 'branch'; readonly branch: string; readonly head: string; readonly isDefault: boolean }
  /** Nobody waits for its result; `why` is a sentence. */
  | { readonly kind: 'none'; readonly why: string };

/** The result of a run, as shown beside its commit. */
export interface CheckRun {
  readonly conclusion: 'success' | 'failure' | 'action_required';
  readonly title: string;
  readonly summary: string;
  readonly annotations: readonly Required<Annotation>[];
}

/** A file of the repository. */
export interface StoredFile {
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** A file to commit; one without content is deleted. */
export interface CommittedFile {
  readonly path: string;
  readonly content: Buffer | null;
  readonly isExecutable: boolean;
  /** Whether the branch has it already. */
  readonly exists: boolean;
  /** Whether to set `isExecutable`; otherwise the file keeps its mode. */
  readonly setsMode: boolean;
}

/** A commit to make without a checkout. */
export interface NewCommit {
  readonly branch: string;
  readonly parent: string;
  readonly files: readonly CommittedFile[];
  readonly message: string;
  /** Whether the branch is our own: it is created if it is missing, and its commits are replaced. */
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
  /** The CI run whose artifact is published; a comment names it, so that `apply` finds it again. */
  readonly runId: string;
  /** The page of that CI run, where a person finds the artifact. */
  readonly runUrl: string;
  occasion(): Promise<Occasion>;
  /** Returns a file at a commit; null if there is none at this path. */
  read(path: string, commit: string): Promise<StoredFile | null>;
  /** Returns the bodies of the comments that this token's own account has made on a change. */
  ownComments(change: number): Promise<readonly OwnComment[]>;
  /** Returns the messages of the commits of a change. */
  messages(change: number): Promise<readonly string[]>;
  createComment(change: number, body: string): Promise<void>;
  editComment(change: number, id: number, body: string): Promise<void>;
  check(head: string, check: CheckRun): Promise<void>;
  /** Offers replacements at lines that the change shows, unless it already has; returns how many there are. */
  suggest(change: PullRequest, replacements: readonly LineReplacement[]): Promise<number>;
  /** Returns the newest commit of a branch; null if there is no such branch. */
  headOf(branch: string): Promise<{ readonly commit: string; readonly message: string } | null>;
  /** Returns the id of the new commit; null if the branch has moved on from the parent. */
  commit(commit: NewCommit): Promise<string | null>;
  /** Returns the body of the newest pull request of a branch that this token's own account has opened, whether or not it is still open. */
  proposalBody(branch: string, base: string): Promise<string | null>;
  /** Opens the pull request of a branch, or updates the one that is open; returns its address. */
  propose(proposal: FixPullRequest): Promise<string>;
}

/** A comment of our own. */
export interface OwnComment {
  readonly id: number;
  readonly body: string;
}
