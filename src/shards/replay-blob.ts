import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { TestFailure } from '../core/failure.js';
import { mapTexts } from '../map-texts.js';
import { type SuiteOptions, runSuite } from '../playwright/run-suite.js';
import { runFiles } from '../playwright/report-format.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { isInside } from '../workspace/is-inside.js';
import { replacePath } from '../workspace/replace-path.js';
import type { Blob } from './blob.js';
import { damaged, type FoundShard } from './find-shards.js';
import type { Checkout, ShardRun } from './read-shard.js';

/** Where and how to replay a blob report. */
export interface ReplayPlace extends Checkout, Pick<SuiteOptions, 'playwright' | 'env' | 'runId' | 'signal'> {
  /** A folder used by this replay only. */
  readonly runDir: string;
  /** The project's Playwright config, absolute. Test paths are relative to its folder. */
  readonly config: string;
  /** The suite as listed here by `playwright test --list`. */
  readonly listed: SuiteRun;
}

/**
 * Replays a blob report to our own reporter (`playwright merge-reports`). This yields the tests, errors and attachments of a run, from
 * which evidence is gathered here. Reports are replayed one at a time, so that test ids do not change.
 */
export async function replayBlob(
  { name, file, blob }: Extract<FoundShard, { kind: 'blob' }>,
  { runDir, config, listed, root, ...place }: ReplayPlace,
): Promise<Result<ShardRun, Problem>> {
  const blobs = path.join(runDir, runFiles.output);
  await mkdir(blobs, { recursive: true });
  // A copy, because Playwright unpacks the file next to it.
  await copyFile(file, path.join(blobs, 'report.zip'));
  const args = [`--config=${config}`];
  const run = await runSuite({
    ...place,
    runDir,
    args: { first: args, whole: args, byId: args },
    mode: { kind: 'replay', blobs },
  });
  if (run.exitCode !== 0) {
    const said = run.suiteFailure?.errors[0]?.message ?? 'it could not be read';
    return err(unreadable({ name, blob }, place.playwright.version, said));
  }
  const move = (text: string) => moved(text, { from: blob.rootDir, to: run.rootDir, root });
  const failures = run.failures.map((one) => inCheckout(one, move, blobs));
  return ok({
    known: new Map(),
    run: {
      ...run,
      failures,
      // Its lines are stamped with the time of the replay, so they cannot be matched to tests.
      serverLog: run.suiteFailure ? run.serverLog : '',
      suiteFailure: run.suiteFailure && {
        ...run.suiteFailure,
        errors: mapTexts(run.suiteFailure.errors, move),
      },
      rerunIds: withSerialGroups(run, listed.serial ?? []),
      testFiles: listed.testFiles ?? [],
    },
  });
}

function unreadable({ name, blob }: { name: string; blob: Blob }, here: string, said: string): Problem {
  const { playwright } = blob;
  if (playwright === null || playwright === here) return damaged(name, `Playwright cannot read it: ${said}`);
  return {
    kind: 'input-unreadable',
    message: `${name} was written by Playwright ${playwright}, which Playwright ${here}, installed here, cannot read`,
    detail: said,
    remedy: 'Install the Playwright version of the shards here, or a newer one.',
  };
}

/** Converts the paths in errors, which a report keeps as they were, and drops attachments that are not in the report itself. */
function inCheckout(failure: TestFailure, move: (text: string) => string, blobs: string): TestFailure {
  return {
    ...failure,
    errors: mapTexts(failure.errors, move),
    attachments: failure.attachments.filter((one) => isInside(blobs, one.path)),
    capture: null,
  };
}

/**
 * Converts a path between machines. The folder of the tests is known on both. Paths above it are converted too if its path from the repository's
 * root is the same on both.
 */
function moved(text: string, { from, to, root }: { from: string; to: string; root: string }): string {
  const below = path.relative(root, to);
  const end = below === '' ? '' : `${path.sep}${below}`;
  const isSame = isInside(root, to) && from.endsWith(end) && from.length > end.length;
  return isSame
    ? replacePath(text, from.slice(0, from.length - end.length), root)
    : replacePath(text, from, to);
}

/** Adds serial groups, which a report does not record: a test of such a group cannot run alone. */
function withSerialGroups(
  { rerunIds }: SuiteRun,
  groups: NonNullable<SuiteRun['serial']>,
): Record<string, string[]> {
  const groupOf = (id: string) => groups.find((group) => group.includes(id)) ?? [];
  return Object.fromEntries(
    Object.entries(rerunIds).map(([id, ids]) => [id, [...new Set([...ids, ...groupOf(id)])]]),
  );
}
