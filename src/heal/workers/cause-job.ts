import { testsOf } from '../../core/failure.js';
import { lstat, readFile } from 'node:fs/promises';
import path from 'node:path';
import { bounds } from '../../evidence/bounds.js';
import { chooseProven } from '../../core/choose-proven.js';
import type { DiagnosedFailure } from '../../core/cause.js';
import type { Attempt } from '../../core/attempt.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import type { CauseJob, SentAttempt, SentFailure } from '../../queue/messages.js';
import type { SentEdit } from '../../queue/sent-edits.js';
import { type Collected, collectedRun } from '../../shards/collected.js';
import type { Session } from '../session.js';
import type { SentCause } from './workers.js';

/** What is sent along with every cause of a run. */
export interface JobContext {
  readonly first: SuiteRun;
  readonly place: Pick<Collected, 'project' | 'commit' | 'playwright' | 'selection' | 'root' | 'place'>;
  readonly base: readonly SentEdit[];
  readonly agentRunsOnTest: number;
}

/** Packs a cause for the queue, without secrets (EV-9): what a shard would leave for it, and what is known here. */
export async function causeJob(
  session: Session,
  { cause, previous, known }: SentCause,
  context: JobContext,
): Promise<CauseJob> {
  const { settings, redactor, spending, clock, folder } = session;
  const { agentRuns, costUsd, timeMs } = settings.limits;
  const { level, confirm, repeat, flips } = settings.verify;
  // A worker gets the tests that prove a fix; the others are run here when its patch is applied.
  const members = [...chooseProven(cause)];
  const numbers = members.map(({ n }) => n);
  const collected = {
    schemaVersion: 1 as const,
    ...context.place,
    isDirty: false,
    shard: { current: 1, total: 1 },
    run: runOf(context.first, members),
    failures: numbers,
  };
  const failures = await Promise.all(members.map((one) => sentFailure(one, one === cause.lead)));
  const { base, agentRunsOnTest } = context;
  const { tries, tried, fix, guidance } = known;
  const job: Omit<CauseJob, 'base' | 'failures'> = redactor.deep({
    schemaVersion: 1,
    runId: folder.runId,
    causeId: cause.id,
    collected,
    blame: cause.blame ?? null,
    previous: await Promise.all(previous.map((one) => sentAttempt(folder.dir, one))),
    tries,
    tried,
    fix,
    guidance,
    elapsedMs: spending.spentFor(cause, clock.now()).elapsedMs,
    agentRunsOnTest,
    limits: { agentRuns, costUsd, timeMs },
    verify: { level, confirm, repeat, flips },
  });
  const masked = failures.map(({ record, picture }) => ({ record: redactor.deep(record), picture }));
  return { ...job, failures: masked, base };
}

/** Returns an attempt with the text of its patch, which was masked when it was written. */
export async function sentAttempt(runDir: string, attempt: Attempt): Promise<SentAttempt> {
  const file = attempt.patch === null ? null : path.join(runDir, attempt.patch);
  const patch = file === null ? null : await readFile(file, 'utf8').catch(() => null);
  return { attempt, patch: patch === null || patch.length > mostPatch ? null : patch };
}

/** Longer patches, such as those of lock files, tell an agent nothing; in characters. */
const mostPatch = 256 * 1024;

/** Only the lead's evidence is sent, since agents are shown no other. */
async function sentFailure(one: DiagnosedFailure, isLead: boolean): Promise<SentFailure> {
  const { evidence } = one;
  const left = { console: [], network: [], serverOutput: '', elements: null, sources: [], screenshot: null };
  const shown = isLead ? evidence : { ...evidence, ...left };
  const picture = isLead && evidence.screenshot ? await pictureAt(evidence.screenshot) : null;
  return { record: { schemaVersion: 1, ...one, evidence: shown }, picture };
}

async function pictureAt(file: string): Promise<SentFailure['picture']> {
  const info = await lstat(file).catch(() => null);
  if (!info?.isFile() || info.size > bounds.screenshot) return null;
  return { name: path.basename(file), bytes: (await readFile(file)).toString('base64') };
}

/** Reduces the first run to the cause's tests and one test per file, which is enough to know which files are tests. */
function runOf(first: SuiteRun, members: readonly DiagnosedFailure[]): Collected['run'] {
  const own = new Set(testsOf(members).map(({ id }) => id));
  const files = new Set<string>();
  const tests = first.tests.filter(({ test }) => {
    const isNew = !files.has(test.location.file);
    files.add(test.location.file);
    return isNew || own.has(test.id);
  });
  const rerunIds = Object.fromEntries(
    tests.flatMap(({ test }) => (first.rerunIds[test.id] ? [[test.id, first.rerunIds[test.id] ?? []]] : [])),
  );
  return { ...collectedRun.parse(first), tests, rerunIds, captureProblems: [] };
}
