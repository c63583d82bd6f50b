import { compareFiles, listRevertiblePaths } from '../../workspace/candidates.js';
import type { ChangedFile } from '../../workspace/hunks.js';
import type { Finding } from '../../model/guard-findings.js';
import type { ProofStep } from '../../model/proof.js';
import type { ChangeVerdict, ProofDepth, Verification } from '../../model/verification.js';
import { type GitChanges, compareWithGit, createNoBaseProblem } from '../../workspace/git-trees.js';
import { listFindings, guardWorkingTree } from '../../guard/guard-working-tree.js';
import { findDirtySubmodules } from '../../guard/dirty-submodules.js';
import { findIgnoredReads } from '../../guard/ignored-reads.js';
import { counted } from '../../format.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { compareWithTreeState } from '../../run/tree-state.js';
import type { LastRedRun } from '../inspect/last-red.js';
import type { OpenRun } from '../../command/open-run.js';
import type { HealResult } from '../../heal/progress.js';

/** How to prove the changes in the working tree. */
export interface ProofRequest {
  readonly depth: ProofDepth;
  /** True to let an agent review the change. */
  readonly review: boolean;
  /** The commit that a person named, or null. */
  readonly base: string | null;
  /** The last red run; null if no run here was red. */
  readonly red: LastRedRun | null;
}

/** A change and the guard's findings, before any test runs. */
export interface ComparedChange {
  readonly request: ProofRequest;
  readonly changed: GitChanges;
  /** The changed files that can be reverted, as they were before any test ran. */
  readonly files: readonly ChangedFile[];
  readonly base: Verification['base'];
  /** Findings for which the change is refused. */
  readonly refusals: readonly Finding[];
  /** Findings that a person must review. */
  readonly openFindings: readonly Finding[];
}

/**
 * Compares the working tree with the tree of the first red run, and the tests with those of the last green run, if there was one (HN-3, HN-4). Runs
 * no test, so that a change that deletes or weakens one is refused without regard to the outcome.
 */
export async function compareChange(
  { cwd, request, bus }: Pick<OpenRun, 'cwd' | 'request' | 'bus'>,
  proofRequest: ProofRequest,
): Promise<Result<ComparedChange, Problem>> {
  const { red, base } = proofRequest;
  const redRun = base === null && red?.since.state ? red.since : null;
  const changed = await (redRun?.state
    ? compareWithTreeState(cwd, { runDir: redRun.dir, state: redRun.state })
    : compareWithGit(cwd, base ?? 'HEAD'));
  if ('kind' in changed) return err(createNoBaseProblem(changed));
  const paths = await listRevertiblePaths(changed, { isExcluded: () => false });
  const compared = await compareFiles(changed, paths);
  const files = compared.filter(({ before, after }) => before !== after);
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  // Judges changes committed since the tests were green, too: committing a weakened test does not make it right.
  const sinceGreen = base === null && red?.greenCommit ? await compareWithGit(cwd, red.greenCommit) : changed;
  const judgedFrom = 'kind' in sinceGreen ? changed : sinceGreen;
  const guardFindings = await guardWorkingTree(judgedFrom, {
    cwd,
    config: request.options.config ?? null,
    warn,
  });
  const refused = listFindings(guardFindings, false);
  const strictFindings = listFindings(guardFindings, true).slice(refused.length);
  return ok({
    request: proofRequest,
    changed,
    files,
    base: { commit: judgedFrom.base, runId: judgedFrom === changed ? (redRun?.runId ?? null) : null },
    refusals: refused,
    openFindings: [
      ...strictFindings,
      ...(await findIgnoredReads(changed)),
      ...(await findDirtySubmodules(changed.root)),
    ],
  });
}

/** The results so far. */
export interface ProofResults {
  readonly tests: ReadonlyMap<string, readonly ProofStep[]>;
  readonly proven: readonly string[];
  readonly notProven: readonly string[];
}

const noResults: ProofResults = { tests: new Map(), proven: [], notProven: [] };

/** Announces the verdict on a change, and returns the result of the run. */
export function announceVerdict(
  { bus }: Pick<OpenRun, 'bus'>,
  { request, base, files, refusals, openFindings }: ComparedChange,
  {
    verdict,
    reason,
    ...results
  }: { readonly verdict: ChangeVerdict; readonly reason: string } & Partial<ProofResults>,
): HealResult {
  const { tests, proven, notProven } = { ...noResults, ...results };
  const verification: Verification = {
    verdict,
    reason,
    depth: request.depth,
    base,
    files: files.map((file) => file.path),
    findings: [...refusals, ...openFindings],
    tests: [...tests].map(([id, proof]) => ({ id, proof })),
    proven,
    notProven,
  };
  bus.emit({ type: 'change.verified', verification });
  return { suiteRed: false, paused: false, verified: verdict };
}

/** Ends the verification if the guard refuses the change; returns null if its tests have to run. */
export function endIfRefused(opened: Pick<OpenRun, 'bus'>, change: ComparedChange): HealResult | null {
  const { refusals } = change;
  if (refusals.length === 0) return null;
  const reason = `the guard has ${counted(refusals.length, 'finding')}, so no test was run`;
  return announceVerdict(opened, change, { verdict: 'refused', reason });
}
