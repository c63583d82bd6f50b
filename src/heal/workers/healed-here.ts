import type { Problem } from '../../problem.js';
import { type HealedTree, queueName } from '../../queue/queue-name.js';
import { err, ok, type Result } from '../../result.js';
import { checkedOut } from '../../run/checked-out.js';
import { redact } from '../../secrets/redact.js';
import { isUrl } from '../../store/open-store.js';
import { version } from '../../version.js';
import type { Checked } from '../check-request.js';
import type { RunRequest } from '../run-request.js';
import { placeOf, selectionOf } from '../shards.js';

/** What is healed in this checkout, and the name of the queue for its causes. */
export interface HealedHere extends HealedTree {
  readonly queue: string;
  /** The repository's root, absolute. */
  readonly root: string;
  /** Whether there are uncommitted changes. */
  readonly isDirty: boolean;
}

/** Examines the checkout; returns a `Problem` if its causes cannot be queued. */
export async function healedHere(
  request: RunRequest,
  { asWritten: settings, playwright }: Pick<Checked, 'asWritten' | 'playwright'>,
): Promise<Result<HealedHere, Problem>> {
  if (!isUrl(settings.store)) return err(noServer(settings.store));
  const { commit, isDirty } = await checkedOut(request.cwd);
  if (commit === null) return err(noCommit);
  const { root, place } = await placeOf(request.cwd);
  const tree = {
    project: settings.project,
    place,
    commit,
    selection: selectionOf(request),
    version: `${version()} with Playwright ${playwright.version}`,
    settings,
  };
  return ok({ ...tree, queue: queueName(tree), root, isDirty });
}

/** The same for a worker, whose patches are made against the commit: returns a `Problem` if there are uncommitted changes. */
export async function committedHere(
  request: RunRequest,
  checked: Pick<Checked, 'asWritten' | 'playwright'>,
): Promise<Result<HealedHere, Problem>> {
  const here = await healedHere(request, checked);
  return here.ok && here.value.isDirty ? err(uncommitted) : here;
}

const uncommitted: Problem = {
  kind: 'usage',
  message: 'a worker heals only committed code, but there are uncommitted changes here',
  remedy: 'Commit or stash them (git status), or give the worker its own checkout.',
};

function noServer(store: string): Problem {
  return {
    kind: 'usage',
    message: `workers need a PostgreSQL database that every machine can reach; the store ${redact(store)} is not one`,
    remedy: 'Set one with --store postgres://…, SELF_HEAL_STORE, or `store` in agents.yaml.',
  };
}

const noCommit: Problem = {
  kind: 'usage',
  message: 'workers heal only committed code, but there is no commit here',
  remedy: 'Commit the project to a git repository that the workers have checked out too.',
};
