import { existsSync } from 'node:fs';
import path from 'node:path';
import type { VerifyLevel, Settings } from '../model/settings.js';
import {
  countShards,
  createMissingShardsProblem,
  findReportRefusal,
  type Reports,
  type ShardCount,
} from '../playwright/reports/report.js';
import type { Selection } from '../playwright/selection.js';
import type { StampedEvent } from '../event.js';
import type { ProjectLock } from '../run/project-lock.js';
import type { Report } from '../run/report.js';
import { findMissingAgents, dropMissingRunner } from '../agents/check-agents.js';
import { loadSettings, overlay } from '../config/load-settings.js';
import type { AgentsFile } from '../config/schema.js';
import { say } from '../outputs/streams.js';
import { relativePath } from '../paths.js';
import { findPlaywrightConfig, hasConfigElsewhere } from '../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../playwright/find-playwright.js';
import { findInteractiveFlag } from '../playwright/unattended.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { readHead } from '../workspace/git.js';

/** The options of `self-heal run`; Playwright's own selection flags keep their names (CL-1). */
export interface RunOptions extends Omit<Selection, 'filters' | 'passThrough'> {
  /** agents.yaml to use instead of the project's own. */
  agents?: string;
  /** How many agents work at the same time. */
  parallel?: number;
  /** Goes on to measure, explain and heal what the run found flaky. */
  flaky?: boolean;
  /** How thoroughly a heal is proven. */
  verify?: VerifyLevel;
  dryRun?: boolean;
  json?: boolean;
  failOnHeal?: boolean;
  failOnFlakyTests?: boolean;
  /** Wait for another self-heal process that is running in the project. */
  wait?: boolean;
  /** Heal what Playwright's reports in these places name as red, without a run of the whole suite. */
  from?: string[];
  /** Continue even if some shards left no report. */
  allowMissingShards?: boolean;
  /** Print the causes or the known flaky tests, for a matrix of CI jobs, and heal nothing. */
  list?: boolean;
  /** Heal only these causes, as `list` names them. */
  cause?: string[];
  /** Start no agent: try the fixes in these artifacts of other machines. */
  patches?: string[];
  /** Overrides the configured store: a path or a `postgres://` URL, which may contain a password. */
  store?: string;
}

/** The program that self-heal runs inside, in place of a terminal. */
export interface Host {
  /** Interrupts the run as Ctrl-C does: all its processes end, and what is not proven is taken out. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: StampedEvent) => void;
  /** Gets the report that `--json` prints. */
  readonly onReport: (report: Report) => void;
}

/** The input of a command that runs the suite. */
export interface RunRequest {
  /** As typed, for who waits for the project's lock. */
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

/** Returns the shards as events and the store name them; empty if the suite runs here. */
export function shardsIn(shards: ShardCount | null | undefined): { shards?: ShardCount } {
  return shards ? { shards: { total: shards.total, missing: shards.missing } } : {};
}

/** Returns the command as typed, without the store's URL, which may contain a password. */
export function commandLineOf({ filters, passThrough, options: asked }: RunRequest) {
  const { store: _, ...options } = asked;
  return { filters, passThrough, options };
}

/** A request whose Playwright, settings, agents and reports are known. */
export interface CheckedRequest {
  readonly settings: Settings;
  readonly playwright: Playwright;
  /** Agents that cannot be started here; empty if none is needed. */
  readonly missing: ReadonlyMap<string, Problem>;
  /** The reports that say what to run here (SC-1); null if the suite itself runs. */
  readonly reports: Reports | null;
}

/** Checks what a run needs before anything is run. */
export async function checkRequest(request: RunRequest): Promise<Result<CheckedRequest, Problem>> {
  const { cwd, env, options, passThrough } = request;
  const waiting = findInteractiveFlag(passThrough);
  if (waiting) return err(waiting);
  const config = findPlaywrightConfig(cwd, options.config);
  const playwright = findPlaywright(cwd, config.ok ? config.value : undefined);
  // In the root of a repository, the folder that has Playwright is of more use than how to install it here.
  if (!config.ok && (playwright.ok || (options.config === undefined && hasConfigElsewhere(cwd))))
    return config;
  if (!playwright.ok) return playwright;
  if (!config.ok) return config;
  const { agents, verify: level, parallel, store } = options;
  // A blank store comes from an unset variable.
  const flags = { verify: { level }, limits: { parallel }, store: store?.trim() || undefined };
  const overrides = overlay<AgentsFile>(request.settings ?? {}, flags);
  // For `--agents 4`, commander also sets an empty file name.
  const file = agents || agentsFileBeside(config.value, cwd);
  const loaded = await loadSettings({ cwd, env, file, overrides });
  if (!loaded.ok) return loaded;
  // In these modes no agent is started here.
  const isShown = options.dryRun === true || options.patches !== undefined;
  const settings = isShown ? loaded.value : await dropMissingRunner(loaded.value, cwd);
  const missing = isShown ? new Map<string, Problem>() : await findMissingAgents(settings, cwd);
  const reports = await reportsFor(request);
  return reports.ok
    ? ok({ settings, playwright: playwright.value, missing, reports: reports.value })
    : reports;
}

/** Returns the agents.yaml next to a config that `-c` names, and says so; undefined if there is none, or one here. */
function agentsFileBeside(config: string, cwd: string): string | undefined {
  const names = ['agents.yaml', 'agents.yml'];
  if (names.some((name) => existsSync(path.join(cwd, name)))) return undefined;
  const beside = names.map((name) => path.join(path.dirname(config), name)).find((file) => existsSync(file));
  if (beside === undefined) return undefined;
  const file = relativePath(cwd, beside);
  say(`settings: ${file}`);
  return file;
}

/** Reads the reports that `--from` names, and refuses those that cannot be healed from here (SC-1). */
async function reportsFor({ cwd, options }: RunRequest): Promise<Result<Reports | null, Problem>> {
  const { from } = options;
  if (from === undefined) return ok(null);
  const { readReports } = await import('../playwright/reports/read-reports.js');
  const read = await readReports(from, cwd);
  if (!read.ok) return read;
  const { commit, isDirty } = await readHead(cwd);
  const refusal = findReportRefusal(read.value, commit);
  if (refusal) return err(refusal);
  const count = countShards(read.value);
  if (count.missing.length > 0 && !options.allowMissingShards)
    return err(createMissingShardsProblem(read.value, count));
  return ok({
    ...count,
    reports: read.value,
    // Others have been refused above.
    isOfCommit: read.value.every(({ commit }) => commit !== null),
    isDirtyHere: isDirty && commit !== null,
  });
}
