import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { agentName, builtIn, isBuiltIn } from '../../core/built-in.js';
import type { Cause } from '../../core/cause.js';
import type { Proposal } from '../../fixer/proposal.js';
import type { KnownFailure } from '../../store/store.js';
import { err, ok, type Result } from '../../result.js';
import { runDirOf } from '../../run/run-folder.js';
import { type Contents, contentsOf, readChange, safePath } from '../../workspace/change.js';
import { type FileEdit, hashOf, stateOf } from '../../workspace/file-state.js';
import { type KeptFix, keptFixSummary } from '../resumed.js';
import type { MadeElsewhere } from '../matrix.js';
import { failureKey } from '../../core/failure.js';
import { fixedContent, type FixedFile } from '../../publish/fix.js';
import { readFileSync } from 'node:fs';
import type { Session } from '../session.js';
import { reasonOf } from '../../problem.js';
import { bareAttempt, type Unjudged } from '../../core/attempt.js';
import { deployEdits, type Deployment } from './deploy.js';

/** A fix that needs no agent's work: from the built-in fixer, or from an agent in the run that this run resumes. */
export interface Proposed {
  /** The name of the agent whose fix it is. */
  readonly agent: string;
  readonly summary: string;
  /** Whether a person has chosen it, whose word is the last: it is neither judged nor offered again. */
  readonly isChosen?: true;
  /** Set where our own fixer makes it, here: a name that was read proves nothing. */
  readonly isOurs?: true;
  /** Stores the contents and returns the edits relative to the workspace's root, or why they do not fit the current files. */
  edits(root: string, contents: Contents): Promise<Result<readonly FileEdit[], string>>;
}

/**
 * Returns the patch that a person has chosen, or a fix from the resumed run, or else what the built-in fixer is certain of and has not tried
 * in an earlier run.
 */
export async function proposedFor(
  { propose, kept, patches, bus, cwd }: Pick<Session, 'propose' | 'kept' | 'patches' | 'bus' | 'cwd'>,
  cause: Cause,
  { tried, decision }: KnownFailure,
): Promise<Proposed | null> {
  if (decision?.chosen) {
    const { agent, change: id, runId, side } = decision.chosen;
    const runDir = runDirOf(cwd, runId);
    const change = readChange(runDir, id);
    const what = side === 'whole' ? 'the whole patch' : `the patch of the ${side}`;
    const summary = `${what} by ${agentName(agent)}, chosen by a person`;
    if (change) return { ...ofStored({ agent, change, runDir }, summary), isChosen: true };
    const message = `${cause.id}: ${summary} is not here any more: the folder of run ${runId} was deleted, or is on another machine`;
    bus.emit({ type: 'run.warning', message });
    return null;
  }
  const patch = patches && patchFor(patches, cause);
  if (patch) return patch;
  const fix = kept?.get(cause.lead.signature);
  if (fix) return ofStored(fix, keptFixSummary(fix));
  try {
    const proposal = (await propose?.(cause)) ?? null;
    const isOld = tried.some((one) => isBuiltIn(one) && one.claim?.summary === proposal?.summary);
    return proposal === null || isOld ? null : ofFixer(proposal);
  } catch (error) {
    const reason = reasonOf(error);
    bus.emit({ type: 'run.warning', message: `${cause.id}: the built-in fixer failed: ${reason}` });
    return null;
  }
}

/** Wraps a proposal of the built-in fixer (BF-1). */
export function ofFixer({ summary, files }: Proposal): Proposed {
  return {
    agent: builtIn,
    summary,
    isOurs: true,
    edits: async (root, contents) => {
      const edits: FileEdit[] = [];
      for (const { file, before: text, after } of files) {
        const place = path.relative(root, await realpath(file)).replaceAll(path.sep, '/');
        const before = safePath.safeParse(place).success ? stateOf(root, place) : 'other';
        // Bytes that are not UTF-8 would not survive the round trip.
        if (before === null || before === 'other' || before.hash !== hashOf(Buffer.from(text)))
          return err(`${file} changed in the meantime, or is not UTF-8`);
        await contents.put(Buffer.from(text));
        edits.push({
          path: place,
          before,
          after: { ...before, hash: await contents.put(Buffer.from(after)) },
        });
      }
      return ok(edits);
    },
  };
}

/** Wraps a fix that an earlier run has stored (ME-8). */
function ofStored({ agent, change, runDir }: KeptFix, summary: string): Proposed {
  const { edits } = change;
  return {
    agent,
    summary,
    edits: async (_root, contents) => {
      const known = contentsOf(runDir);
      const states = edits.flatMap(({ before, after }) => [before, after]);
      for (const state of states) if (state) await contents.put(await known.get(state.hash));
      return ok(edits);
    },
  };
}

/** Returns the fix that another machine has made for a cause. */
function patchFor(made: readonly MadeElsewhere[], { members, lead }: Cause): Proposed | null {
  const ids = new Set(members.map((one) => failureKey(one.failure)));
  const found = made.find(({ tests }) =>
    lead.failure.scope === 'suite' ? tests.size === 0 : [...tests].some((id) => ids.has(id)),
  );
  if (!found) return null;
  const { agent, runId, fix } = found;
  return {
    agent,
    summary: `the fix of run ${runId} on another machine`,
    edits: async (root, contents) => {
      const edits: FileEdit[] = [];
      for (const file of fix) {
        const edit = await editOf(file, root, contents);
        if (edit === null) return err(`${file.path} has changed since, here or by another patch`);
        edits.push(edit);
      }
      return ok(edits);
    },
  };
}

async function editOf(file: FixedFile, root: string, contents: Contents): Promise<FileEdit | null> {
  const before = stateOf(root, file.path);
  if (before === 'other' || before?.kind === 'link') return null;
  const text = before && readFileSync(path.join(root, file.path));
  const content = fixedContent(file, text);
  if (content === 'conflict') return null;
  if (text) await contents.put(text);
  const mode = file.isExecutable === null ? (before?.mode ?? 0o644) : file.isExecutable ? 0o755 : 0o644;
  const after = content && { kind: 'file' as const, hash: await contents.put(content), mode };
  return { path: file.path, before, after };
}

/** Turns a proposal into a change without making a copy of the project; guard, re-run and proof follow as for an agent's (BF-5, ME-8). */
export async function applyProposal(
  session: Session,
  { proposal, causeId, n }: { proposal: Proposed; causeId: string; n: number },
): Promise<Deployment> {
  const startedAt = session.clock.now();
  const { agent, summary } = proposal;
  const settings = session.settings.agents[agent];
  const made: Unjudged = {
    ...bareAttempt(n),
    agent,
    slashCommand: settings?.slashCommand ?? null,
    runner: proposal.isOurs ? builtIn : (settings?.runner ?? null),
    exit: 'completed',
    claim: { status: 'fixed', summary },
    usage: { costUsd: 0, inputTokens: null, outputTokens: null, turns: null, sessionId: null },
  };
  session.bus.emit({ type: 'fixer.proposed', causeId, attempt: n, summary, agent });
  const got = await proposal
    .edits(session.workspace.root, contentsOf(session.folder.dir))
    .catch((error: unknown) => err(reasonOf(error)));
  if (!got.ok) return { made, work: null, end: null, because: got.error };
  const durationMs = session.clock.now() - startedAt;
  return deployEdits(session, { ...made, durationMs }, got.value);
}
