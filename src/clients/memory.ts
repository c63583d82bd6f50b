import type { Attempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { Hooks, Propose, ProposedFix } from '../heal/hooks.js';
import { localDay } from '../format.js';
import type { RunFolder } from '../run/run-folder.js';
import { ok } from '../result.js';
import type { FileContent, FixToRemember, RememberedFix, Store } from '../store/store.js';
import { type ContentStore, openContentStore, mergeEdits, readChange } from '../workspace/change.js';
import { type FileEdit, type FileState, isExecutable } from '../workspace/file-state.js';
import { storedSignature } from '../heal/stored-signature.js';

/** Remembers green fixes, and proposes them when their failure comes back in any run, clone or CI job that shares the store. */
interface Memory {
  /** Proposes fixes from earlier runs that may heal a cause and still apply, newest first. */
  readonly propose: Propose;
  /** Remembers a green attempt, with its proof. Forgets a remembered fix that failed. */
  readonly rememberAttempt: NonNullable<Hooks['onAttemptEnd']>;
}

interface MemoryOptions {
  readonly store: Pick<Store, 'rememberFix' | 'listRememberedFixes' | 'refuseFix'>;
  readonly folder: Pick<RunFolder, 'dir' | 'runId'>;
  /** The root of the working tree; paths are relative to it. */
  readonly root: string;
  /** Returns the names of known secrets that a text contains. */
  readonly listSecretNames: (text: string) => readonly string[];
  readonly warn: (message: string) => void;
}

export function createMemory({ store, folder, root, listSecretNames, warn }: MemoryOptions): Memory {
  const contents = openContentStore(folder.dir);
  let hasWarned = false;
  /** The ids of remembered fixes, by the id of their change in this run. */
  const savedIds = new Map<string, string>();
  return {
    propose: async function* ({ cause }) {
      const fixes = await Promise.all(
        listSignatures(cause).map((signature) => store.listRememberedFixes(signature)),
      );
      const byId = new Map(fixes.flat().map((fix) => [fix.id, fix]));
      for (const fix of [...byId.values()].toSorted((a, b) => (a.savedAt < b.savedAt ? 1 : -1))) {
        const edits = await createEdits(fix, root, contents);
        if (edits.length > 0) yield createProposedFix(fix, edits);
      }
    },
    rememberAttempt: async (cause, attempt, proven) => {
      const { change, proposedBy, remembered, agent, end, reading } = attempt;
      if (refutesFix(end.kind)) {
        // A fix is remembered once it is green. If it fails later, or needs a person's decision, it is not tried again.
        const ids = [remembered, savedIds.get(change ?? '')].flatMap((id) => id ?? []);
        for (const id of ids) await store.refuseFix(id, listSignatures(cause));
        return;
      }
      // The built-in fixer can propose its fixes again at no cost.
      if (end.kind !== 'green' || change === null || agent === null || proposedBy === 'fixer') return;
      const edits = await readEdits(folder.dir, change, contents);
      if (!edits || edits.length === 0) return;
      const [secret] = edits.flatMap(({ path, before, after }) => {
        const texts = [before, after].map((content) =>
          Buffer.from(content?.bytes ?? '', 'base64').toString(),
        );
        return [path, ...texts].flatMap(listSecretNames).map((name) => `${path} holds the ${name}`);
      });
      if (secret !== undefined) {
        if (!hasWarned) warn(`${cause.id}: its fix is not remembered, because ${secret}`);
        hasWarned = true;
        return;
      }
      const id = await store.rememberFix({
        runId: folder.runId,
        causeId: cause.id,
        signatures: listSignatures(cause),
        agent,
        proven,
        // If no review found the fix honest, the run that proposes it again has it reviewed.
        reading: reading?.verdict === 'honest' ? reading : null,
        edits,
        replaces: remembered ?? null,
      });
      if (id !== null) savedIds.set(change, id);
    },
  };
}

function listSignatures({ members, lead }: Pick<Cause, 'members' | 'lead'>): string[] {
  return [...new Set([lead, ...members].map(storedSignature))];
}

/** True if an attempt that ended like this shows that its fix was wrong. */
function refutesFix(kind: Attempt['end']['kind']): boolean {
  return ['still-failing', 'flaky', 'rejected', 'vanished', 'taken-out', 'offered'].includes(kind);
}

/** Reads the edits of a change; null if they include links, or if the change was deleted. */
async function readEdits(
  runDir: string,
  id: string,
  contents: ContentStore,
): Promise<FixToRemember['edits'] | null> {
  const change = readChange(runDir, id);
  const states = change?.edits.flatMap(({ before, after }) => [before, after]) ?? [];
  if (!change || states.some((state) => state?.kind === 'link')) return null;
  const readContent = async (state: FileState | null): Promise<FileContent | null> =>
    state && {
      bytes: (await contents.get(state.hash)).toString('base64'),
      mode: isExecutable(state) ? 0o755 : 0o644,
    };
  return Promise.all(
    change.edits.map(async ({ path, before, after }) => ({
      path,
      before: await readContent(before),
      after: await readContent(after),
    })),
  );
}

/** Merges a fix onto the current files. Returns no edits if they conflict, or if the fix is already in the project. */
async function createEdits(
  { edits }: RememberedFix,
  root: string,
  contents: ContentStore,
): Promise<readonly FileEdit[]> {
  const storeContent = async (content: FileContent | null): Promise<FileState | null> =>
    content && {
      kind: 'file',
      mode: content.mode,
      hash: await contents.put(Buffer.from(content.bytes, 'base64')),
    };
  const stored: FileEdit[] = [];
  for (const { path, before, after } of edits)
    stored.push({ path, before: await storeContent(before), after: await storeContent(after) });
  const merged = await mergeEdits(root, stored, contents);
  return merged.conflicts.length > 0 ? [] : merged.edits.map(keepMode);
}

/** Keeps the file's permissions, because only the executable bit is remembered. */
function keepMode({ path, before, after }: FileEdit): FileEdit {
  const isSameMode = before && after && isExecutable(before) === isExecutable(after);
  return { path, before, after: isSameMode ? { ...after, mode: before.mode } : after };
}

function createProposedFix(
  { id, runId, agent, savedAt, reading }: RememberedFix,
  edits: readonly FileEdit[],
): ProposedFix {
  const summary = `a fix from run ${runId} (${localDay(savedAt)}, /${agent}) was tried first`;
  return {
    agent,
    proposedBy: 'memory',
    remembered: id,
    summary,
    ...(reading ? { reading } : {}),
    edits: async () => ok(edits),
  };
}
