import { createHash } from 'node:crypto';
import type { Settings } from '../core/settings.js';

/** What must be equal on two machines for one to heal what the other found. */
export interface HealedTree {
  readonly project: string;
  /** The project's folder in its repository, with forward slashes. */
  readonly place: string;
  readonly commit: string;
  /** Which tests are run, as Playwright arguments. */
  readonly selection: readonly string[];
  /** The versions of self-heal and Playwright. */
  readonly version: string;
  readonly settings: Settings;
}

/**
 * Names the queue shared by all who heal the same tree in the same way. A machine at another commit, or with other settings or another version
 * of self-heal, uses another queue and therefore never sees the cause.
 */
export function queueName(tree: HealedTree): string {
  const { settings, ...rest } = tree;
  return `causes-${digest([rest, configOf(settings)])}`;
}

/** Returns the settings without those that may differ between machines or are sent with each cause. */
function configOf(settings: Settings): unknown {
  const { limits, verify } = settings;
  const own = { store: null, blame: null, runnerByDefault: null, file: null };
  return { ...settings, ...own, limits: limits.agentRunsPerTest, verify: verify.prepare };
}

/** Returns a short hash of the settings, so that people can see whether they differ. */
export function configDigest(settings: Settings): string {
  return digest(configOf(settings)).slice(0, 8);
}

/**
 * Returns the id of a cause's job: the same for the same key, whoever sends it and however often. The database's primary key thus ensures
 * one job per cause, and a coordinator that restarts finds what was done.
 */
export function jobId(queue: string, key: string): string {
  const hex = digest([queue, key]);
  // A custom UUID: version 8 of RFC 9562.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40);
}
