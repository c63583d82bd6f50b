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

/** Where a blob report is replayed. */
export interface ReplayPlace extends Checkout, Pick<SuiteOptions, 'playwright' | 'env' | 'runId' | 'signal'> {
  /** A folder of this replay alone. */
  readonly runDir: string;
  /** The project's Playwright config, absolute: paths of tests are those below it. */
  readonly config: string;
  /** What `playwright test --list` says of the suite here. */
  readonly listed: SuiteRun;
}

/**
 * Has Playwright report a blob report once more, to our own reporter (`playwright merge-reports`): its tests, errors and attachments are then
 * those of a run, and evidence is gathered from them here. Each report by itself, so that its test ids stay what they are.
 */
export async function replayBlob(
  { name, file, blob }: Extract<FoundShard, { kind: 'blob' }>,
  { runDir, config, listed, root, ...place }: ReplayPlace,
): Promise<Result<ShardRun, Problem>> {
  const blobs = path.join(runDir, runFiles.output);
  await mkdir(blobs, { recursive: true });
  // A copy: it is unpacked where it lies.
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
      // Its lines have the time of the replay, so that they tell of no test.
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
    message: `${name} was written by Playwright ${playwright}, and ${here}, which is installed here, cannot read it`,
    detail: said,
    remedy: 'Install the version here that the shards have, or a newer one.',
  };
}

/** A report keeps the errors' paths as they were. Only what lies in the report itself was attached. */
function inCheckout(failure: TestFailure, move: (text: string) => string, blobs: string): TestFailure {
  return {
    ...failure,
    errors: mapTexts(failure.errors, move),
    attachments: failure.attachments.filter((one) => isInside(blobs, one.path)),
    capture: null,
  };
}

/** The folder of the tests is known of both machines; what lies above it is the same where its path from the repository's top is. */
function moved(text: string, { from, to, root }: { from: string; to: string; root: string }): string {
  const below = path.relative(root, to);
  const end = below === '' ? '' : `${path.sep}${below}`;
  const isSame = isInside(root, to) && from.endsWith(end) && from.length > end.length;
  return isSame
    ? replacePath(text, from.slice(0, from.length - end.length), root)
    : replacePath(text, from, to);
}

/** A report does not say which tests go together, and one of a serial group does not run alone. */
function withSerialGroups(
  { rerunIds }: SuiteRun,
  groups: NonNullable<SuiteRun['serial']>,
): Record<string, string[]> {
  const groupOf = (id: string) => groups.find((group) => group.includes(id)) ?? [];
  return Object.fromEntries(
    Object.entries(rerunIds).map(([id, ids]) => [id, [...new Set([...ids, ...groupOf(id)])]]),
  );
}
