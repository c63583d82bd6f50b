import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { bareAttempt, type Proposer, type Unjudged } from '../../core/attempt.js';
import { agentName, builtIn, isBuiltIn } from '../../core/built-in.js';
import type { Cause } from '../../core/cause.js';
import { failureKey } from '../../core/failure.js';
import type { Proposal } from '../../fixer/proposal.js';
import { reasonOf } from '../../problem.js';
import { fixedContent, type FixedFile } from '../../publish/fix.js';
import { err, ok } from '../../result.js';
import { runDirOf } from '../../run/run-folder.js';
import type { KnownFailure } from '../../store/store.js';
import { type Contents, contentsOf, readChange } from '../../workspace/change.js';
import { safePath } from '../../workspace/safe-path.js';
import { type FileEdit, hashOf, stateOf } from '../../workspace/file-state.js';
import type { MadeElsewhere } from '../matrix.js';
import type { ProposedFix } from '../proposed-fix.js';
import type { Session } from '../session.js';
import { deployEdits, type Deployment } from './deploy.js';

/** What a proposer is asked about: a cause, and what earlier runs know about it. */
interface Asked {
  readonly cause: Cause;
  readonly known: KnownFailure;
}

type Proposing = Pick<Session, 'propose' | 'memory' | 'patches' | 'onlyChosen' | 'bus' | 'cwd'>;

/** Proposes fixes for a cause, best first. */
type Proposes = (session: Proposing, asked: Asked) => AsyncIterable<ProposedFix>;

/** Every way in which a fix gets into the project without an agent, in the order in which they are tried. */
const proposes: Readonly<Record<Proposer, Proposes>> = {
  person: chosen,
  patch: madeElsewhere,
  memory: ({ memory }, { cause }) => memory.proposals(cause),
  fixer: madeByFixer,
};

/** Returns the fixes to try before any agent is started, one by one: each proposer is asked when those before it have not healed the cause. */
export async function* proposalsFor(session: Proposing, asked: Asked): AsyncGenerator<ProposedFix> {
  const isChosen = session.onlyChosen ?? asked.known.decision?.chosen;
  for (const from of isChosen ? [proposes.person] : Object.values(proposes)) yield* from(session, asked);
}

/** The patch that a person has chosen. */
async function* chosen({ bus, cwd }: Proposing, { cause, known }: Asked): AsyncGenerator<ProposedFix> {
  if (!known.decision?.chosen) return;
  const { agent, change: id, runId, side } = known.decision.chosen;
  const runDir = runDirOf(cwd, runId);
  const change = readChange(runDir, id);
  const what = side === 'whole' ? 'the whole patch' : `the patch of the ${side}`;
  const summary = `${what} by ${agentName(agent)}, chosen by a person`;
  if (!change) {
    const message = `${cause.id}: ${summary} is not here any more: the folder of run ${runId} was deleted, or is on another machine`;
    bus.emit({ type: 'run.warning', message });
    return;
  }
  const edits = async (_root: string, contents: Contents) => {
    const stored = contentsOf(runDir);
    const states = change.edits.flatMap(({ before, after }) => [before, after]);
    for (const state of states) if (state) await contents.put(await stored.get(state.hash));
    return ok(change.edits);
  };
  yield { agent, proposedBy: 'person', summary, edits };
}

/** The fix that another machine has made for the cause. */
async function* madeElsewhere(
  { patches = [] }: Proposing,
  { cause: { members, lead } }: Asked,
): AsyncGenerator<ProposedFix> {
  const ids = new Set(members.map((one) => failureKey(one.failure)));
  const found = patches.find(({ tests }) =>
    lead.failure.scope === 'suite' ? tests.size === 0 : [...tests].some((id) => ids.has(id)),
  );
  if (found) yield ofPatch(found);
}

function ofPatch({ agent, runId, fix }: MadeElsewhere): ProposedFix {
  return {
    agent,
    proposedBy: 'patch',
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

/** What the built-in fixer is certain of and has not tried in an earlier run. */
async function* madeByFixer(
  { propose, bus }: Proposing,
  { cause, known }: Asked,
): AsyncGenerator<ProposedFix> {
  try {
    const proposal = (await propose?.(cause)) ?? null;
    const isOld = known.tried.some((one) => isBuiltIn(one) && one.claim?.summary === proposal?.summary);
    if (proposal && !isOld) yield ofFixer(proposal);
  } catch (error) {
    const reason = reasonOf(error);
    bus.emit({ type: 'run.warning', message: `${cause.id}: the built-in fixer failed: ${reason}` });
  }
}

/** Wraps a proposal of the built-in fixer (BF-1). */
export function ofFixer({ summary, files }: Proposal): ProposedFix {
  return {
    agent: builtIn,
    proposedBy: 'fixer',
    summary,
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

/** Turns a proposal into a change without making a copy of the project; guard, re-run and proof follow as for an agent's (BF-5, ME-8). */
export async function applyProposal(
  session: Session,
  { proposal, causeId, n }: { proposal: ProposedFix; causeId: string; n: number },
): Promise<Deployment> {
  const startedAt = session.clock.now();
  const { agent, summary, proposedBy, remembered } = proposal;
  const made: Unjudged = {
    ...bareAttempt(n),
    agent,
    proposedBy,
    ...(remembered === undefined ? {} : { remembered }),
    slashCommand: session.settings.agents[agent]?.slashCommand ?? null,
    runner: builtIn,
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
