import path from 'node:path';
import pMap from 'p-map';
import { findPlaywrightConfig } from '../playwright/find-config.js';
import { listTests } from '../playwright/list-tests.js';
import { selectionWords } from '../playwright/selection.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { maskSuiteFolder } from '../run/mask-suite-folder.js';
import { checkedOut } from '../run/checked-out.js';
import {
  missing,
  missingShards,
  missingWarning,
  numbersOf,
  refusalOf,
  type ShardCount,
  totalOf,
} from '../shards/check-shards.js';
import { findShards, type FoundShard } from '../shards/find-shards.js';
import { mergeRuns } from '../shards/merge-runs.js';
import { type Checkout, readShard, type ShardRun } from '../shards/read-shard.js';
import { replayBlob } from '../shards/replay-blob.js';
import { rootOf } from '../workspace/project-files.js';
import type { Checked } from './check-request.js';
import type { Opened } from './open-run.js';
import { noRun } from '../playwright/suite-run.js';
import type { RunRequest } from './run-request.js';
import { tally } from './suite-runs.js';
import { relativePath } from '../relative-path.js';

/** The shards that a run heals. */
export interface Shards extends ShardCount {
  readonly found: readonly FoundShard[];
  /** Whether all of them are known to come from exactly the commit that is checked out. */
  readonly isOfCommit: boolean;
  /** Whether there are uncommitted changes here. */
  readonly isDirtyHere: boolean;
}

/** Finds the shards in the folders of `--from`, and refuses those that cannot be healed here. */
export async function shardsOf(
  request: RunRequest,
  from: readonly string[],
  { settings }: Checked,
): Promise<Result<Shards, Problem>> {
  const { cwd, options } = request;
  const found = await findShards(from, cwd);
  if (!found.ok) return found;
  const { commit, isDirty } = await checkedOut(cwd);
  const here = {
    project: settings.project,
    ...(await placeOf(cwd)),
    commit,
    selection: selectionOf(request),
  };
  const refusal = refusalOf(found.value, here);
  if (refusal) return err(refusal);
  const gone = missingShards(found.value);
  if (gone.length > 0 && !options.allowMissingShards) return err(missing(found.value, gone));
  // Shards of another commit have been refused above.
  const isOfCommit = found.value.every((one) =>
    one.kind === 'collected' ? !one.collected.isDirty : one.blob.commit !== null,
  );
  return ok({
    found: found.value,
    total: totalOf(found.value),
    missing: gone,
    isOfCommit,
    isDirtyHere: isDirty && commit !== null,
  });
}

/** Returns the repository's root and the project's path within it. */
export async function placeOf(cwd: string): Promise<{ root: string; place: string }> {
  const root = await rootOf(cwd);
  return { root, place: relativePath(root, cwd) };
}

/** Returns what a request selects, as Playwright arguments: the same arguments at the same commit mean the same tests on any machine. */
export function selectionOf({ filters, passThrough, options }: RunRequest): readonly string[] {
  return selectionWords({ ...options, filters, passThrough });
}

/** Reads what the shards left as one run of the whole suite in this checkout. */
export async function joinShards(
  request: RunRequest,
  opened: Opened,
  shards: Shards,
): Promise<Result<ShardRun, Problem>> {
  const { bus, plan, signal } = opened;
  for (const message of warningsOf(shards, opened)) bus.emit({ type: 'run.warning', message });
  bus.emit({ type: 'suite.started', purpose: 'first', causeId: null, tests: null });
  const read = await readEach(request, opened, shards.found);
  if (signal.aborted) return ok({ run: noRun('interrupted'), known: new Map() });
  const failed = read.find((one) => !one.ok);
  if (failed && !failed.ok) return failed;
  const joined = mergeRuns(read.flatMap((one) => (one.ok ? [one.value] : [])));
  plan.ended(joined.run);
  bus.emit({ type: 'shards.joined', total: shards.total, missing: [...shards.missing] });
  bus.emit({
    type: 'suite.ended',
    purpose: 'first',
    causeId: null,
    ...tally(joined.run.tests),
    durationMs: joined.run.durationMs,
  });
  return ok(joined);
}

/** How many replays run at once, each of which is a separate Playwright process. */
const atOnce = 2;

async function readEach(
  request: RunRequest,
  opened: Opened,
  found: readonly FoundShard[],
): Promise<Result<ShardRun, Problem>[]> {
  const { root } = await placeOf(request.cwd);
  const here = { cwd: request.cwd, root };
  const replay = found.some((one) => one.kind === 'blob') ? await replayer(request, opened, here) : null;
  return pMap(
    found,
    (one, at) => (one.kind === 'collected' ? readShard(one, here) : (replay as Replayer)(one, at + 1)),
    { concurrency: atOnce },
  );
}

type Replayer = (
  blob: Extract<FoundShard, { kind: 'blob' }>,
  n: number,
) => Promise<Result<ShardRun, Problem>>;

/** Creates a replayer of blob reports; what they do not say about the suite is taken from its list of tests. */
async function replayer(
  { cwd, env, options, ...request }: RunRequest,
  { playwright, folder, signal, redactor }: Opened,
  here: Checkout,
): Promise<Replayer> {
  const config = findPlaywrightConfig(cwd, options.config);
  // The config was there when the run began.
  if (!config.ok) return async () => config;
  const args = selectionOf({ cwd, env, options, ...request });
  const listed = await listTests({ playwright, cwd, env, args });
  return async (blob, n) => {
    const runDir = path.join(folder.dir, 'suites', `shard-${n}`);
    const place = { ...here, playwright, env, signal, runDir, runId: folder.runId };
    const replayed = await replayBlob(blob, { ...place, config: config.value, listed });
    await maskSuiteFolder(runDir, { isRed: true, redactor });
    return replayed;
  };
}

/** Returns warnings about where the shards come from. */
function warningsOf(shards: Shards, { playwright }: Opened): string[] {
  const { found } = shards;
  const gone = missingWarning(shards);
  const those = (isOne: (one: FoundShard) => boolean) =>
    found.filter(isOne).map(({ shard }) => shard.current);
  const dirty = those((one) => one.kind === 'collected' && one.collected.isDirty);
  const other = those((one) => {
    const ran = one.kind === 'collected' ? one.collected.playwright : one.blob.playwright;
    return ran !== null && ran !== playwright.version;
  });
  const unknown = those((one) => one.kind === 'blob' && one.blob.commit === null);
  const said: [readonly number[], string][] = [
    [dirty, 'ran with uncommitted changes: its failures may not occur here.'],
    [
      other,
      `ran with a different version of Playwright than the one installed here (${playwright.version}).`,
    ],
    [unknown, 'left a blob report that does not name its commit.'],
  ];
  const others = said.flatMap(([numbers, words]) =>
    numbers.length > 0 ? [`${numbersOf(numbers)} ${words}`] : [],
  );
  const here = 'There are uncommitted changes here: failures of the shards may not occur with them.';
  return [...(gone === null ? [] : [gone]), ...others, ...(shards.isDirtyHere ? [here] : [])];
}
