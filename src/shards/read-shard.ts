import path from 'node:path';
import type { DiagnosedFailure } from '../core/cause.js';
import type { Failure, TestError, TestRef } from '../core/failure.js';
import { mapTexts } from '../map-texts.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { isInside } from '../workspace/is-inside.js';
import { replacePath } from '../workspace/replace-path.js';
import { type Collected, collectedSchema, failureSchema } from './collected.js';
import { damaged, type FoundShard } from './find-shards.js';
import { readParsed } from './read-parsed.js';

/** A suite run from another machine, with paths converted to this one. */
export interface ShardRun {
  readonly run: SuiteRun;
  /** Failures that were diagnosed on the other machine. Their screenshots are still in the shard's folder. */
  readonly known: Map<Failure, DiagnosedFailure>;
}

/** The project as checked out here; absolute. */
export interface Checkout {
  readonly cwd: string;
  /** The root of its repository. */
  readonly root: string;
}

/** Reads what a shard collected. The data comes from another machine and may be crafted, so no path may lead out of the project here. */
export async function readShard(
  { name, folder, collected: asWritten }: Extract<FoundShard, { kind: 'collected' }>,
  here: Checkout,
): Promise<Result<ShardRun, Problem>> {
  const move = movedPaths(asWritten.root, here.root);
  const collected = collectedSchema.safeParse(move(asWritten)).data ?? asWritten;
  const stray = strayTest(
    collected.run.tests.map(({ test }) => test),
    here,
  );
  if (stray !== null) return err(damaged(name, stray));
  const known = new Map<Failure, DiagnosedFailure>();
  for (const n of collected.failures) {
    const dir = path.join(folder, 'failures', String(n));
    const read = readParsed(path.join(dir, 'failure.json'), failureSchema, move);
    if (!read.ok) return err(damaged(`${name}/failures/${n}/failure.json`, read.error));
    const diagnosed = inCheckout(read.value, dir, here);
    const { failure } = diagnosed;
    const away = failure.scope === 'test' ? strayTest([failure.test], here) : null;
    if (away !== null) return err(damaged(`${name}/failures/${n}/failure.json`, away));
    known.set(failure, diagnosed);
  }
  return ok({ run: suiteRun(collected, [...known.keys()], here), known });
}

/** Describes a test outside the project; returns null if there is none. */
function strayTest(tests: readonly TestRef[], { root }: Checkout): string | null {
  const stray = tests.find(({ location }) => !isIn(root, location.file));
  return stray ? `no file of this project contains the test ${stray.id}` : null;
}

function suiteRun({ run }: Collected, failures: readonly Failure[], { cwd, root }: Checkout): SuiteRun {
  return {
    ...run,
    failures: failures.filter((one) => one.scope === 'test'),
    suiteFailure: failures.find((one) => one.scope === 'suite') ?? null,
    serverLog: '',
    rootDir: isIn(root, run.rootDir) ? run.rootDir : cwd,
    configFile: run.configFile !== null && isIn(root, run.configFile) ? run.configFile : null,
    testFiles: (run.testFiles ?? []).filter((file) => isIn(root, file)),
  };
}

function inCheckout(diagnosed: DiagnosedFailure, dir: string, { cwd, root }: Checkout): DiagnosedFailure {
  const { evidence, failure } = diagnosed;
  const errors = (list: readonly TestError[]) =>
    list.map((one) => (one.location && !isIn(root, one.location.file) ? { ...one, location: null } : one));
  // Only the screenshot's name is used: the file is next to the record.
  const picture = evidence.screenshot?.split(/[/\\]/).at(-1);
  const screenshot =
    picture !== undefined && /^screenshot\.\w+$/.test(picture) ? path.join(dir, picture) : null;
  return {
    ...diagnosed,
    failure: { ...failure, errors: errors(failure.errors) },
    evidence: { ...evidence, errors: errors(evidence.errors), screenshot, rootDir: cwd, workspaceDir: root },
  };
}

function isIn(root: string, file: string): boolean {
  return path.isAbsolute(file) && isInside(root, file);
}

/** Returns a function that copies plain data, replacing paths below one folder with paths below another. */
function movedPaths(from: string, to: string): (value: unknown) => unknown {
  const isFolder = path.isAbsolute(from) && from !== path.parse(from).root && from !== to;
  return (value) => (isFolder ? mapTexts(value, (text) => replacePath(text, from, to)) : value);
}
