import { existsSync } from 'node:fs';
import path from 'node:path';
import type { VerifyLevel, Settings } from '../model/settings.js';
import {
  countShards,
  createMissingShardsProblem,
  checkReports,
  type Reports,
  type ShardCount,
} from '../playwright/reports/report.js';
import type { Selection } from '../playwright/selection.js';
import type { StampedEvent } from '../event.js';
import type { ProjectLock } from '../run/project-lock.js';
import type { Report } from '../run/report.js';
import { findMissingAgents, dropMissingRunner } from '../agents/check-agents.js';
import { loadSettings, overlaySettings } from '../config/load-settings.js';
import type { AgentsFile } from '../config/schema.js';
import { printMessage } from '../outputs/streams.js';
import { relativePath } from '../paths.js';
import { findPlaywrightConfig, hasConfigElsewhere } from '../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../playwright/find-playwright.js';
import { findUnusableFlag } from '../playwright/unattended.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { readHead } from '../workspace/git.js';

/** The options of `self-heal run`; Playwright's own selection flags keep their names (CL-1). */
export interface RunOptions extends Omit<Selection, 'filters' | 'passThrough'> {
  /** agents.yaml to use instead of the project's own. */
  agents?: string;
  /** How many agents work at the same time. */
  parallel?: number;
  /** Afterwards measure, explain and heal the tests that the run found flaky. */
  flaky?: boolean;
  /** How thoroughly to prove a fix. */
  verify?: VerifyLevel;
  dryRun?: boolean;
  json?: boolean;
  failOnHeal?: boolean;
  failOnFlakyTests?: boolean;
  /** Wait for another self-heal process that is running in the project. */
  wait?: boolean;
  /** Heal the tests that Playwright's reports in these places show as red, without a run of the whole suite. */
  from?: string[];
  /** Continue even if some shards left no report. */
  allowMissingShards?: boolean;
  /** Print the causes or the known flaky tests, for a matrix of CI jobs, and heal nothing. */
  list?: boolean;
  /** Heal only these causes, as `list` names them. */
  cause?: string[];
  /** Start no agent: try the fixes in these artifacts from other machines. */
  patches?: string[];
  /** Overrides the configured store: a path or a `postgres://` URL, which may contain a password. */
  store?: string;
}

/** The program that self-heal runs inside, instead of a terminal. */
export interface Host {
  /** Interrupts the run as Ctrl-C does: all its processes end, and unproven fixes are reverted. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: StampedEvent) => void;
  /** Gets the report that `--json` prints. */
  readonly onReport: (report: Report) => void;
}

/** The input of a command that runs the suite. */
export interface RunRequest {
  /** The command's name, shown to another self-heal process that waits for the project's lock. */
  readonly name: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly filters: readonly string[];
  readonly passThrough: readonly string[];
  readonly options: RunOptions;
  /** Settings of the caller, as agents.yaml has them; the options take precedence. */
  readonly settings?: AgentsFile | undefined;
  /** Set by a program that self-heal runs inside; without it, the run uses the terminal and the signals of this process. */
  readonly host?: Host;
  /** The project's lock, if the command already holds it. */
  readonly lock?: ProjectLock;
}

/** Returns the field `shards` of events and the store; empty if the suite runs here. */
export function createShardsField(shards: ShardCount | null | undefined): { shards?: ShardCount } {
  return shards ? { shards: { total: shards.total, missing: shards.missing } } : {};
}

/** Returns the command line as the user typed it, without the store's URL, which may contain a password. */
export function readCommandLine({ filters, passThrough, options: typed }: RunRequest) {
  const { store: _, ...options } = typed;
  return { filters, passThrough, options };
}

/** The results of checking a request. */
export interface CheckedRequest {
  readonly settings: Settings;
  readonly playwright: Playwright;
  /** Agents that cannot be started here; empty if the run starts none. */
  readonly missing: ReadonlyMap<string, Problem>;
  /** The reports that determine which tests run here (SC-1); null to run the suite itself. */
  readonly reports: Reports | null;
}

/** Checks everything that a run needs before it starts. */
export async function checkRequest(request: RunRequest): Promise<Result<CheckedRequest, Problem>> {
  const { cwd, env, options, passThrough } = request;
  const unusable = findUnusableFlag(passThrough);
  if (unusable) return err(unusable);
  const config = findPlaywrightConfig(cwd, options.config);
  const playwright = findPlaywright(cwd, config.ok ? config.value : undefined);
  // In the root of a repository, naming the folder that has Playwright helps more than how to install it here.
  if (!config.ok && (playwright.ok || (options.config === undefined && hasConfigElsewhere(cwd))))
    return config;
  if (!playwright.ok) return playwright;
  if (!config.ok) return config;
  const { agents, verify: level, parallel, store } = options;
  // An unset variable in a script makes the store blank.
  const flags = { verify: { level }, limits: { parallel }, store: store?.trim() || undefined };
  const overrides = overlaySettings<AgentsFile>(request.settings ?? {}, flags);
  // For `--agents 4`, commander also sets an empty file name.
  const file = agents || findAgentsFileBeside(config.value, cwd);
  const loaded = await loadSettings({ cwd, env, file, overrides });
  if (!loaded.ok) return loaded;
  const startsNoAgent = options.dryRun === true || options.patches !== undefined;
  const settings = startsNoAgent ? loaded.value : await dropMissingRunner(loaded.value, cwd);
  const missing = startsNoAgent ? new Map<string, Problem>() : await findMissingAgents(settings, cwd);
  const reports = await readRequestedReports(request);
  return reports.ok
    ? ok({ settings, playwright: playwright.value, missing, reports: reports.value })
    : reports;
}

/** Finds the agents.yaml next to the config that `-c` names, and prints its path. Returns undefined if there is none, or if `cwd` has its own. */
function findAgentsFileBeside(config: string, cwd: string): string | undefined {
  const names = ['agents.yaml', 'agents.yml'];
  if (names.some((name) => existsSync(path.join(cwd, name)))) return undefined;
  const found = names.map((name) => path.join(path.dirname(config), name)).find((file) => existsSync(file));
  if (found === undefined) return undefined;
  const file = relativePath(cwd, found);
  printMessage(`settings: ${file}`);
  return file;
}

/** Reads the reports that `--from` names, and rejects those that cannot be healed here (SC-1). */
async function readRequestedReports({ cwd, options }: RunRequest): Promise<Result<Reports | null, Problem>> {
  const { from } = options;
  if (from === undefined) return ok(null);
  const { readReports } = await import('../playwright/reports/read-reports.js');
  const read = await readReports(from, cwd);
  if (!read.ok) return read;
  const { commit, isDirty } = await readHead(cwd);
  const refusal = checkReports(read.value, commit);
  if (refusal) return err(refusal);
  const count = countShards(read.value);
  if (count.missing.length > 0 && !options.allowMissingShards)
    return err(createMissingShardsProblem(read.value, count));
  return ok({
    ...count,
    reports: read.value,
    // Reports of another commit were rejected above.
    matchesCommit: read.value.every(({ commit }) => commit !== null),
    hasUncommittedChanges: isDirty && commit !== null,
  });
}
