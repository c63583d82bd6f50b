import type { VerifyLevel } from '../core/settings.js';
import type { Selection } from '../playwright/selection.js';
import type { ProjectLock } from '../run/project-lock.js';
import type { Resumed } from './resumed.js';

/** What `self-heal run` was asked for; Playwright's own selection flags under their own names (CL-1). */
export interface RunOptions extends Omit<Selection, 'filters' | 'passThrough'> {
  /** agents.yaml to use instead of the project's own. */
  agents?: string;
  /** Agents that work at the same time. */
  parallel?: number;
  /** How much a heal is proven. */
  verify?: VerifyLevel;
  dryRun?: boolean;
  json?: boolean;
  failOnHeal?: boolean;
  failOnFlakyTests?: boolean;
  /** Wait for another self-heal that is at work in the project. */
  wait?: boolean;
  /** Leave what was found for `self-heal heal`, and heal nothing. */
  collect?: boolean;
  /** Heal what was collected in these folders; no first run is made. */
  from?: string[];
  /** Also where nothing was collected of some shards. */
  allowMissingShards?: boolean;
  /** Have the causes healed by `self-heal worker` on other machines. */
  queue?: boolean;
  /** The store instead of the one that is set: a path or a `postgres://` URL, which may hold a password. */
  store?: string;
  /** Few words, as for an agent; where it is not said, the environment decides. */
  terse?: boolean;
}

/** `self-heal run`, as it was typed. */
export interface RunRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly filters: readonly string[];
  readonly passThrough: readonly string[];
  readonly options: RunOptions;
  /** The unfinished run to go on with; absent for a new one. */
  readonly resumed?: Resumed;
  /** Looks for the change that broke what is red, and starts no agent (`self-heal blame`). */
  readonly blame?: { readonly base: string | null };
  /** The project's lock, where the command has it already. */
  readonly lock?: ProjectLock;
}
