import type { Attempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { Hooks } from '../heal/hooks.js';
import type { Propose, ProposedFix } from '../heal/hooks.js';
import { localDay } from '../format.js';
import type { RunFolder } from '../run/run-folder.js';
import type { RunStore } from '../run/run-store.js';
import { ok } from '../result.js';
import type { FileContent, FixToRemember, RememberedFix } from '../store/store.js';
import { type Contents, contentsOf, mergeOnto, readChange } from '../workspace/change.js';
import { type FileEdit, type FileState, isExecutable } from '../workspace/file-state.js';

/** Remembers fixes that were green, and proposes them when their failure comes back, in whatever run, clone or CI job shares the store. */
interface Memory {
  /** Proposes the fixes of earlier runs that may heal a cause and still apply, newest first. */
  readonly propose: Propose;
  /** Keeps an attempt that was green, as far as it is proven; one that ended in any other way is not proposed again. */
  readonly attemptEnded: NonNullable<Hooks['attemptEnded']>;
}

/** What a memory needs of its run. */
interface MemoryParts {
  readonly store: Pick<RunStore, 'rememberFix' | 'rememberedFixes' | 'refuseFix'>;
  readonly folder: Pick<RunFolder, 'dir'>;
  /** The root that paths of files are relative to. */
  readonly root: string;
  /** Names the known secrets in a text. */
  readonly secretsIn: (text: string) => readonly string[];
  readonly warn: (message: string) => void;
}

/** Creates the memory of a run. */
export function createMemory({ store, folder, root, secretsIn, warn }: MemoryParts): Memory {
  const contents = contentsOf(folder.dir);
  let hasWarned = false;
  return {
    propose: async function* ({ cause }) {
      const found = await Promise.all(
        signaturesOf(cause).map((signature) => store.rememberedFixes(signature)),
      );
      const byId = new Map(found.flat().map((fix) => [fix.id, fix]));
      for (const fix of [...byId.values()].toSorted((a, b) => (a.savedAt < b.savedAt ? 1 : -1))) {
        const edits = await editsOf(fix, root, contents);
        if (edits.length > 0) yield proposed(fix, edits);
      }
    },
    attemptEnded: async (cause, attempt, proven) => {
      const { change, proposedBy, remembered, agent, end } = attempt;
      if (remembered !== undefined && isRefuted(end.kind))
        return store.refuseFix(remembered, signaturesOf(cause));
      // What costs nothing is proposed again anyway.
      if (end.kind !== 'green' || change === null || agent === null || proposedBy === 'fixer') return;
      const fix = await readFix(folder.dir, change, contents);
      if (!fix) return;
      const [secret] = fix.flatMap(({ path, before, after }) =>
        [before, after].flatMap((one) =>
          one ? secretsIn(textOf(one)).map((name) => `${path} holds the ${name}`) : [],
        ),
      );
      if (secret !== undefined) {
        if (!hasWarned) warn(`${cause.id}: its fix is not remembered, because ${secret}`);
        hasWarned = true;
        return;
      }
      await store.rememberFix({
        causeId: cause.id,
        signatures: signaturesOf(cause),
        agent,
        proven,
        edits: fix,
        replaces: remembered ?? null,
      });
    },
  };
}

function signaturesOf({ members, lead }: Pick<Cause, 'members' | 'lead'>): string[] {
  return [...new Set([lead, ...members].map(({ signature }) => signature))];
}

/** Whether an end says something about the fix, and not about the run or the files around it. */
function isRefuted(kind: Attempt['end']['kind']): boolean {
  return ['still-failing', 'flaky', 'rejected', 'vanished', 'taken-out', 'offered'].includes(kind);
}

function textOf({ bytes }: FileContent): string {
  return Buffer.from(bytes, 'base64').toString('utf8');
}

/** Returns null for a fix with links, or one whose bytes are gone. */
async function readFix(
  runDir: string,
  id: string,
  contents: Contents,
): Promise<FixToRemember['edits'] | null> {
  const change = readChange(runDir, id);
  const states = change?.edits.flatMap(({ before, after }) => [before, after]) ?? [];
  if (!change || states.some((one) => one?.kind === 'link')) return null;
  const content = async (state: FileState | null): Promise<FileContent | null> =>
    state && {
      bytes: (await contents.get(state.hash)).toString('base64'),
      mode: isExecutable(state) ? 0o755 : 0o644,
    };
  return Promise.all(
    change.edits.map(async ({ path, before, after }) => ({
      path,
      before: await content(before),
      after: await content(after),
    })),
  );
}

/** Merges a fix with what its files hold now. Returns nothing if that is impossible, or if it is in the project already. */
async function editsOf(
  { edits }: RememberedFix,
  root: string,
  contents: Contents,
): Promise<readonly FileEdit[]> {
  const put = async (content: FileContent | null): Promise<FileState | null> =>
    content && {
      kind: 'file',
      mode: content.mode,
      hash: await contents.put(Buffer.from(content.bytes, 'base64')),
    };
  const made: FileEdit[] = [];
  for (const { path, before, after } of edits)
    made.push({ path, before: await put(before), after: await put(after) });
  const merged = await mergeOnto(root, made, contents);
  return merged.conflicts.length > 0 ? [] : merged.edits.map(withItsMode);
}

/** Of a file's permissions, only the executable bit is remembered. */
function withItsMode({ path, before, after }: FileEdit): FileEdit {
  const isAlike = before && after && isExecutable(before) === isExecutable(after);
  return { path, before, after: isAlike ? { ...after, mode: before.mode } : after };
}

function proposed({ id, runId, agent, savedAt }: RememberedFix, edits: readonly FileEdit[]): ProposedFix {
  const summary = `a fix of run ${runId} (${localDay(savedAt)}, /${agent}) was tried first`;
  return { agent, proposedBy: 'memory', remembered: id, summary, edits: async () => ok(edits) };
}
