import { createHash } from 'node:crypto';
import type { Settings } from '../core/settings.js';

/** What has to be the same on two machines for one to heal what the other has found. */
export interface HealedTree {
  readonly project: string;
  /** The project in its repository, with `/`. */
  readonly place: string;
  readonly commit: string;
  /** Which tests it is about, in Playwright's words. */
  readonly selection: readonly string[];
  /** The versions of self-heal and Playwright. */
  readonly version: string;
  readonly settings: Settings;
}

/**
 * The queue of all that heal the same tree in the same way: whoever is at another commit, or has other settings or another self-heal, looks
 * into another one, and so never meets the cause.
 */
export function queueName(tree: HealedTree): string {
  const { settings, ...rest } = tree;
  return `causes-${digest([rest, configOf(settings)])}`;
}

/** The settings without what may differ from machine to machine, and what comes with each cause. */
function configOf(settings: Settings): unknown {
  const { project, agents, runners, routes, classify, retries, limits, evidence, verify, queue, fixer } =
    settings;
  const { agentRunsPerTest } = limits;
  const { prepare } = verify;
  return {
    project,
    agents,
    runners,
    routes,
    classify,
    retries,
    agentRunsPerTest,
    evidence,
    prepare,
    queue,
    fixer,
  };
}

/** The settings in a few letters, so that people can see that they differ. */
export function configDigest(settings: Settings): string {
  return digest(configOf(settings)).slice(0, 8);
}

/**
 * The id of a cause's job: the same for the same cause, whoever sends it, and however often. So the database itself sees to it that one cause has
 * one job, and a coordinator that is started again finds what was done.
 */
export function jobId(queue: string, key: string): string {
  const hex = digest([queue, key]);
  // A UUID of one's own making: version 8 of RFC 9562.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40);
}
