import path from 'node:path';
import { systemClock } from '../clock.js';
import { outcomeOf } from '../core/outcome.js';
import { sweep } from '../process/end-processes.js';
import { say } from '../outputs/say.js';
import { isRed, type SuiteRun } from '../playwright/suite-run.js';
import type { Interrupts } from '../process/interrupts.js';
import { checkedOut } from '../run/checked-out.js';
import { dropAllUnmasked } from '../run/mask-suite-folder.js';
import { type Collected, collectedFile, collectedRun } from '../shards/collected.js';
import { isInside } from '../workspace/is-inside.js';
import { writeFileAtomic } from '../write-file-atomic.js';
import type { Opened } from './open-run.js';
import type { RunRequest } from './run-request.js';
import { placeOf, selectionOf } from './shards.js';
import { tellSeen } from './tell-tests.js';
import { relativePath } from '../relative-path.js';

/**
 * Ends a run that only collects (SC-1). Its failures are diagnosed here, where the sources, the server's log and the secrets to mask
 * are known, and left in the run's folder for `self-heal heal`. Returns the exit code.
 */
export async function collectRun(
  request: RunRequest,
  opened: Opened,
  { first, interrupts, checkout }: Ran,
): Promise<number> {
  const { folder, bus, redactor, startedAt, running } = opened;
  tellSeen({ bus, cwd: request.cwd }, first);
  const final = outcomeOf({
    tests: [...bus.run().tests.values()].map(({ verdict }) => verdict),
    causes: [],
    suiteRed: first.suiteFailure !== null,
    paused: false,
    interruptedBy: interrupts.by(),
    failOnHeal: false,
    failOnFlaky: request.options.failOnFlakyTests ?? false,
  });
  // An interrupted run says nothing about the tests that it did not reach.
  if (final.outcome !== 'interrupted') await collect(request, opened, { first, checkout });
  await sweep({ runId: folder.runId });
  await dropAllUnmasked(folder.dir);
  await running.ended();
  const durationMs = systemClock.now() - startedAt;
  const { commit, isDirty } = await checkout;
  const spent = { agentRuns: 0, costUsd: null };
  bus.emit({ type: 'run.ended', ...final, ...spent, durationMs, commit: isDirty ? null : commit });
  for (const problem of await bus.close()) say(redactor.clean(problem));
  return final.exitCode;
}

/** The run to collect. */
interface Ran {
  readonly first: SuiteRun;
  readonly interrupts: Interrupts;
  /** The commit that is checked out, and whether there are uncommitted changes. */
  readonly checkout: ReturnType<typeof checkedOut>;
}

async function collect(
  request: RunRequest,
  opened: Opened,
  { first, checkout }: Pick<Ran, 'first' | 'checkout'>,
): Promise<void> {
  const { cwd } = request;
  const { settings, folder, redactor, playwright } = opened;
  const failures = isRed(first) ? await diagnosed(opened, first) : [];
  const { current, total } = first.shard ?? { current: 1, total: 1 };
  const place = await placeOf(cwd);
  const collected: Collected = {
    schemaVersion: 1,
    project: settings.project,
    ...(await checkout),
    shard: { current, total },
    playwright: playwright.version,
    selection: selectionOf(request),
    ...place,
    run: {
      ...collectedRun.parse(first),
      testFiles: (first.testFiles ?? []).filter((file) => isInside(place.root, file)),
    },
    failures,
  };
  const text = `${JSON.stringify(redactor.deep(collected))}\n`;
  await writeFileAtomic(path.join(folder.dir, collectedFile), text);
  const where = relativePath(cwd, folder.dir);
  say(`collected shard ${current}/${total} in ${where}; heal them all with: self-heal heal --from DIR…`);
}

/** Diagnoses the failures of a run and stores each in its folder; returns their numbers. */
async function diagnosed(opened: Opened, first: SuiteRun): Promise<number[]> {
  const { settings, folder, redactor, cwd } = opened;
  const { createDiagnose } = await import('./diagnose.js');
  await redactor.load();
  const found = await createDiagnose({ settings, folder, cwd, redactor, isCollecting: true })(first);
  return found.map(({ n }) => n);
}
