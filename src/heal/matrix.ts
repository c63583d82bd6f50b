import { isKept } from '../core/attempt.js';
import { builtIn } from '../core/built-in.js';
import { protectedReason } from '../guard/protected-files.js';
import type { Problem } from '../problem.js';
import { type Artifact, keptIn, readArtifacts } from '../publish/artifact.js';
import { type FixedFile, readFix } from '../publish/fix.js';
import { ok, type Result } from '../result.js';
import type { Report } from '../run/report.js';

/*
 * Past one machine, the matrix of a CI system is the engine: `heal --list` names the causes, each job heals one of them (`--cause`), and a last
 * one takes their patches (`--patches`) as it takes those of agents. Only artifacts pass between the machines.
 */

/** What `--cause` takes for the suite's own failure, which belongs to no test. */
const suite = 'suite';

/** Returns the value of a CI matrix: a job for each cause. A cause is named by the ids of its tests, which are the same on every machine. */
export function matrixOf({ causes }: Report) {
  const include = causes.map(({ tests, category, headline }) => ({
    cause: tests.length === 0 ? suite : tests.join(','),
    class: category,
    headline: headline.slice(0, 80),
  }));
  return { include };
}

/** Returns the ids of the tests of the causes that `--cause` names; null for all. */
export function testsNamed(causes: readonly string[] | undefined): ReadonlySet<string> | null {
  const ids = (causes ?? []).flatMap((one) => one.split(',')).filter((id) => id !== '');
  return ids.length === 0 || ids.includes(suite) ? null : new Set(ids);
}

/** A fix that another machine has made, and the tests that it healed there. */
export interface MadeElsewhere {
  readonly agent: string;
  readonly runId: string;
  /** The ids of the tests of its causes; empty for the suite's own failure. */
  readonly tests: ReadonlySet<string>;
  readonly fix: readonly FixedFile[];
}

/** Reads the fixes in the artifacts of other machines, which are input like an agent's work. A fix of a protected file is not tried. */
export async function readPatches(folders: readonly string[]): Promise<Result<MadeElsewhere[], Problem>> {
  const read = await readArtifacts(folders);
  if (!read.ok) return read;
  return ok(read.value.flatMap(madeIn));
}

function madeIn({ report, fix }: Artifact): MadeElsewhere[] {
  const files = fix === null ? null : readFix(fix, protectedReason);
  if (!files?.ok) return [];
  const healed = keptIn(report);
  const agent = healed.at(-1)?.attempts.findLast(isKept)?.agent ?? builtIn;
  return [
    { agent, runId: report.runId, tests: new Set(healed.flatMap(({ tests }) => tests)), fix: files.value },
  ];
}
