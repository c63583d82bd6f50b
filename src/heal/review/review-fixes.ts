import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { chooseReviewers } from '../../agents/check-agents.js';
import type { FixToReview } from '../../agents/review-prompt.js';
import type { AgentUsage, Attempt, Opinion, Review } from '../../model/attempt.js';
import { isBuiltInRunner, reviewer } from '../../model/built-in.js';
import type { Cause } from '../../model/cause.js';
import { formatTitles } from '../../model/failure.js';
import { isInside, relativePath } from '../../paths.js';
import { describeError } from '../../problem.js';
import { readStateText } from '../../state-folder.js';
import { openContentStore, readChange } from '../../workspace/change.js';
import type { FileEdit } from '../../workspace/file-state.js';
import type { CollectedChange } from '../../workspace/workspace.js';
import { warnAboutStrayEdits } from '../attempt/attempt.js';
import { type DeployRequest, addUsage, setUpAgent, announceAgentEnd } from '../attempt/start-agent.js';
import { findReachedLimit } from '../policy.js';
import type { Session } from '../session.js';
import { gatherFix } from './gather-fix.js';

/** A fix in the project that no run has contradicted. */
export interface FixToProve {
  readonly cause: Cause;
  /** The attempt that turned its tests green. */
  readonly attempt: Attempt;
  /** The attempts whose changes together make the fix. */
  readonly parts: readonly Attempt[];
}

/** A review of a fix, and its usage; null if no agent ran. */
export interface FixReview {
  readonly reading: Review;
  readonly usage: AgentUsage | null;
}

/** The reviews of fixes, which continue while the proof runs. */
export interface Reviews {
  /** Waits for the review of a cause's fix; null if no agent reviews it. */
  waitFor(causeId: string): Promise<FixReview | null>;
  /** Stops all unfinished reviews. */
  stop(): Promise<void>;
}

/** A change to review, and the information for its reviewer. */
export interface ChangeToReview {
  readonly cause: Cause;
  /** The number of the attempt; 1 for a change that self-heal did not make. */
  readonly n: number;
  /** The programs that may review it, in order of preference. If one cannot work here, the next one is tried. */
  readonly programs: readonly string[];
  readonly fix: FixToReview;
  /** The folder with the evidence of the red run. */
  readonly evidence: string;
}

/** True if an agent may review fixes in this run, for which it needs a copy. */
export function mayReviewFixes({ settings, hooks }: Pick<Session, 'settings' | 'hooks'>): boolean {
  const { verify, reviewer: reviewerName, agents } = settings;
  const isAgent = Object.values(agents).some(({ runner }) => isBuiltInRunner(runner));
  return verify.review === 'always' && hooks.noAgents === undefined && (reviewerName !== null || isAgent);
}

/**
 * Starts the reviews of agents' fixes to the app (HN-11), each once, in a new session and in its own copy, so that the project is free meanwhile. Skips
 * fixes that a person chose or the built-in fixer made, and remembered fixes that were reviewed when they were made.
 */
export async function startReviews(session: Session, fixes: readonly FixToProve[]): Promise<Reviews> {
  const reviews = new Map<string, Promise<FixReview>>();
  const requests: ChangeToReview[] = [];
  for (const fix of fixes) {
    const { cause, attempt, parts } = fix;
    const isByAgent = attempt.agent !== null && !['fixer', 'person'].includes(attempt.proposedBy ?? '');
    const edits = listEdits(session, parts);
    const isOfTests = edits.length > 0 && edits.every(({ path: file }) => session.isTest(file));
    if (!isByAgent || attempt.reading || isOfTests) continue;
    const programs = await choosePrograms(session, attempt);
    if (typeof programs === 'string')
      reviews.set(cause.id, Promise.resolve(createMissingReview('not-read', programs)));
    else {
      const { n } = cause.lead;
      await session.diagnostics.unpackTrace(n);
      const evidence = await session.folder.makeFailureFolder(n);
      const reviews = await gatherFixToReview(session, { fix, edits });
      requests.push({ cause, n: attempt.n, programs, evidence, fix: reviews });
    }
  }
  return reviewAll(session, requests, reviews);
}

/** Reviews changes in parallel, as many as agents may work at the same time. */
export async function reviewAll(
  session: Session,
  requests: readonly ChangeToReview[],
  reviews = new Map<string, Promise<FixReview>>(),
): Promise<Reviews> {
  const stop = new AbortController();
  const signal = AbortSignal.any([session.signal, stop.signal]);
  const copies = await Promise.all(
    requests
      .slice(0, Math.max(1, session.settings.limits.parallel))
      .map((_, at) => openReviewCopy(session, at + 1)),
  );
  for (const [at, request] of requests.entries()) {
    const reviewCopy = copies[at % copies.length];
    if (!reviewCopy) continue;
    const { copy, broken } = reviewCopy;
    const read = reviewCopy.last
      .then(() => tryReviewers(session, request, { copy, broken, signal }))
      .catch((error: unknown) => createMissingReview('no-answer', describeError(error)));
    reviewCopy.last = read;
    reviews.set(request.cause.id, read);
  }
  return {
    waitFor: async (causeId) => (await reviews.get(causeId)) ?? null,
    stop: async () => {
      stop.abort('its fix was reverted');
      await Promise.all(reviews.values());
    },
  };
}

/** A copy in which one reviewer works after another. Fixing agents and clean runs use the first copy. */
interface ReviewCopy {
  readonly copy: number;
  readonly broken: string | null;
  last: Promise<unknown>;
}

/** Updates a copy while all fixes are in the project. */
async function openReviewCopy({ workspace }: Session, copy: number): Promise<ReviewCopy> {
  const broken = await workspace.updateCopy(copy).then(() => null, describeError);
  return { copy, broken, last: Promise.resolve() };
}

/** Returns the programs that may review an attempt, or a sentence that says why none may. */
async function choosePrograms(
  { settings, hooks, cwd }: Session,
  { agent }: Pick<Attempt, 'agent'>,
): Promise<readonly string[] | string> {
  if (settings.verify.review === 'off') return 'verify.review is off';
  if (hooks.noAgents !== undefined) return 'no agent is started here';
  const author = settings.agents[agent ?? '']?.runner ?? null;
  return chooseReviewers(settings, { author, cwd });
}

function listEdits({ folder }: Session, parts: readonly Attempt[]): FileEdit[] {
  return parts.flatMap(({ change }) =>
    change === null ? [] : (readChange(folder.dir, change)?.edits ?? []),
  );
}

async function gatherFixToReview(
  { workspace: { root }, cwd, folder, redactor }: Session,
  { fix: { cause, parts }, edits }: { readonly fix: FixToProve; readonly edits: readonly FileEdit[] },
): Promise<FixToReview> {
  const patches = parts.map(({ patch }) =>
    patch === null ? '' : readStateText(path.join(folder.dir, patch)),
  );
  const project = {
    root,
    cwd,
    contents: openContentStore(folder.dir),
    clean: (text: string) => redactor.clean(text),
  };
  const ran = cause.members.flatMap(({ failure }) =>
    failure.scope === 'test' ? formatTitles(failure.test.titlePath) : [],
  );
  const facts = parts.flatMap((attempt) => attempt.notes ?? []).map(({ says }) => says);
  const reviews = await gatherFix(project, {
    cause,
    edits,
    patch: patches.join(''),
    ran,
    facts: [...new Set(facts)],
  });
  return redactor.deep(reviews);
}

/** Lets one program after another review a change, until one can work here. */
async function tryReviewers(
  session: Session,
  { cause, n, programs, fix, evidence }: ChangeToReview,
  at: { readonly copy: number; readonly broken: string | null; readonly signal: AbortSignal },
): Promise<FixReview> {
  let answer = createMissingReview(
    'no-answer',
    at.broken ?? `no program with the command ${reviewer} is set up here`,
  );
  for (const program of at.broken === null ? programs : []) {
    const { spending, clock, settings } = session;
    const reached = findReachedLimit(spending.getSpent(cause, clock.now()), settings.limits);
    if (at.signal.aborted || reached !== null)
      return { ...answer, ...createMissingReview('no-answer', reached ?? 'interrupted') };
    const token = randomBytes(4).toString('hex');
    const request: DeployRequest = {
      cause,
      agent: reviewer,
      n,
      previous: [],
      review: { fix, token, program, evidence },
    };
    const read = await askReviewer(session, request, { program, ...at });
    const usage = answer.usage && read.usage ? addUsage(answer.usage, read.usage) : read.usage;
    answer = { reading: read.reading, usage };
    if (!read.isUnusable) break;
  }
  return answer;
}

async function askReviewer(
  session: Session,
  request: DeployRequest,
  {
    program,
    copy,
    signal,
  }: { readonly program: string; readonly copy: number; readonly signal: AbortSignal },
): Promise<FixReview & { readonly isUnusable: boolean }> {
  const { workspace, cwd } = session;
  const ready = await setUpAgent(session, request, { copy, signal, isFixUnderTest: true });
  if (typeof ready === 'string') return { ...createMissingReview('no-answer', ready), isUnusable: false };
  const { id, workingCopy } = ready;
  const run = await ready.work();
  warnAboutReviewerEdits(session, request.cause.id, await workspace.collectChanges(String(id), copy));
  const opinion = run.opinion && toProjectOpinion(run.opinion);
  announceAgentEnd(session, request, { ...run, filesChanged: 0, ...(opinion ? { opinion } : {}) });
  const { usage } = run;
  const isUnusable = run.end.kind === 'unusable' || run.end.kind === 'spawn-failed';
  if (opinion) return { reading: { ...opinion, by: program }, usage, isUnusable: false };
  const why = 'reason' in run.end ? run.end.reason : `${program} gave no answer (${run.end.kind})`;
  return { ...createMissingReview('no-answer', why), usage, isUnusable };

  function toProjectOpinion({ file, why, ...opinion }: Opinion): Opinion {
    const reviewerName = file === null ? null : path.resolve(cwd, workingCopy.toProjectPaths(file));
    const isOfProject = reviewerName !== null && isInside(workspace.root, reviewerName);
    return {
      ...opinion,
      file: isOfProject ? relativePath(workspace.root, reviewerName) : null,
      why: workingCopy.toProjectPaths(why),
    };
  }
}

function createMissingReview(verdict: 'not-read' | 'no-answer', why: string): FixReview {
  return { reading: { verdict, by: null, file: null, line: null, why }, usage: null };
}

function warnAboutReviewerEdits(session: Session, causeId: string, work: CollectedChange): void {
  warnAboutStrayEdits(session, causeId, { ...work, ignored: [] });
  const changed = (work.change?.edits ?? []).map((edit) => edit.path).slice(0, 5);
  if (changed.length === 0) return;
  const message = `${causeId}: the agent that reviewed the fix changed files in its copy, which is discarded: ${changed.join(', ')}`;
  session.bus.emit({ type: 'run.warning', message });
}
