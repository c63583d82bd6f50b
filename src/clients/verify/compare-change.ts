import { compareFiles, listPaths } from '../../workspace/candidates.js';
import type { ChangedFile } from '../../workspace/hunks.js';
import type { Finding } from '../../model/guard-findings.js';
import type { ProofStep } from '../../model/proof.js';
import type { ChangeVerdict, ProofDepth, Verification } from '../../model/verification.js';
import { type GitChanges, compareWithGit, createNoBaseProblem } from '../../workspace/git-trees.js';
import { listFindings, guardWorkingTree } from '../../guard/guard-working-tree.js';
import { findIgnoredReads } from '../../guard/ignored-reads.js';
import { counted } from '../../format.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { compareWithTreeState } from '../../run/tree-state.js';
import type { LastRedRun } from '../inspect/last-red.js';
import type { OpenRun } from '../../command/open-run.js';
import type { HealResult } from '../../heal/progress.js';

/** What to prove about the changes in the working tree. */
export interface ProofRequest {
  readonly depth: ProofDepth;
  /** Whether an agent reads it. */
  readonly review: boolean;
  /** A commit that a person named, or null. */
  readonly base: string | null;
  /** The last red run; null if no run here was red. */
  readonly red: LastRedRun | null;
}

/** A change that was compared, before anything is run with it. */
export interface ComparedChange {
  readonly asked: ProofRequest;
  readonly changed: GitChanges;
  /** The changed files that can be taken out, as they were before anything was run. */
  readonly files: readonly ChangedFile[];
  readonly base: Verification['base'];
  /** The reasons to refuse it. */
  readonly refused: readonly Finding[];
  /** Findings that a person has to review. */
  readonly toReview: readonly Finding[];
}

/**
 * Compares the working tree with the tree of the first red run, and the tests with those of the last green run, if there was one (HN-3, HN-4). Nothing
 * is run yet, so that a test that is gone or weakened is refused whatever its outcome would be.
 */
export async function compareChange(
  { cwd, request, bus }: Pick<OpenRun, 'cwd' | 'request' | 'bus'>,
  question: ProofRequest,
): Promise<Result<ComparedChange, Problem>> {
  const { red } = question;
  const redRun = question.base === null && red?.since.state ? red.since : null;
  const changed = await (redRun?.state
    ? compareWithTreeState(cwd, { runDir: redRun.dir, state: redRun.state })
    : compareWithGit(cwd, question.base ?? 'HEAD'));
  if ('kind' in changed) return err(createNoBaseProblem(changed));
  const paths = await listPaths(changed, { isLeftOut: () => false });
  const compared = await compareFiles(changed, paths);
  const files = compared.filter(({ before, after }) => before !== after);
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  // What was committed since the tests were green is judged, too: committing a test does not make it right.
  const sinceGreen = question.base === null && red?.green ? await compareWithGit(cwd, red.green) : changed;
  const judgedFrom = 'kind' in sinceGreen ? changed : sinceGreen;
  const guardFindings = await guardWorkingTree(judgedFrom, {
    cwd,
    config: request.options.config ?? null,
    warn,
  });
  const refused = listFindings(guardFindings, false);
  const strict = listFindings(guardFindings, true).slice(refused.length);
  return ok({
    asked: question,
    changed,
    files,
    base: { commit: judgedFrom.base, runId: judgedFrom === changed ? (redRun?.runId ?? null) : null },
    refused,
    toReview: [...strict, ...(await findIgnoredReads(changed))],
  });
}

/** The results so far. */
export interface ProofResults {
  readonly tests: ReadonlyMap<string, readonly ProofStep[]>;
  readonly proven: readonly string[];
  readonly notProven: readonly string[];
}

const noResults: ProofResults = { tests: new Map(), proven: [], notProven: [] };

/** Announces the verdict on a change, with which the run ends. */
export function conclude(
  { bus }: Pick<OpenRun, 'bus'>,
  { asked, base, files, refused, toReview }: ComparedChange,
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
    depth: asked.depth,
    base,
    files: files.map((file) => file.path),
    findings: [...refused, ...toReview],
    tests: [...tests].map(([id, proof]) => ({ id, proof })),
    proven,
    notProven,
  };
  bus.emit({ type: 'change.verified', verification });
  return { suiteRed: false, paused: false, verified: verdict };
}

/** Returns the verdict on a change that is refused as it stands; null if it has to be run. */
export function refusedAtOnce(opened: Pick<OpenRun, 'bus'>, change: ComparedChange): HealResult | null {
  const { refused } = change;
  if (refused.length === 0) return null;
  const reason = `no test was run: ${counted(refused.length, 'finding')} of the guard`;
  return conclude(opened, change, { verdict: 'refused', reason });
}
