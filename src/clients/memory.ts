import type { Attempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { Hooks, Propose, ProposedFix } from '../heal/hooks.js';
import { localDay } from '../format.js';
import type { RunFolder } from '../run/run-folder.js';
import { ok } from '../result.js';
import type { FileContent, FixToRemember, RememberedFix, Store } from '../store/store.js';
import { type Contents, openContents, mergeOnto, readChange } from '../workspace/change.js';
import { type FileEdit, type FileState, isExecutable } from '../workspace/file-state.js';
import { rememberedAs } from '../heal/remembered-as.js';

/** Remembers fixes that were green, and proposes them when their failure comes back, in every run, clone and CI job that shares the store. */
interface Memory {
  /** Proposes the fixes of earlier runs that may heal a cause and still apply, newest first. */
  readonly propose: Propose;
  /** Remembers a green attempt, with its proof. A remembered fix that failed is not proposed again. */
  readonly attemptEnded: NonNullable<Hooks['attemptEnded']>;
}

interface MemoryOptions {
  readonly store: Pick<Store, 'rememberFix' | 'rememberedFixes' | 'refuseFix'>;
  readonly folder: Pick<RunFolder, 'dir' | 'runId'>;
  /** The root that paths are relative to. */
  readonly root: string;
  /** Returns the names of the known secrets in a text. */
  readonly secretsIn: (text: string) => readonly string[];
  readonly warn: (message: string) => void;
}

/** Creates the memory of a run. */
export function createMemory({ store, folder, root, secretsIn, warn }: MemoryOptions): Memory {
  const contents = openContents(folder.dir);
  let hasWarned = false;
  /** The ids under which this run remembers its own changes. */
  const savedAs = new Map<string, string>();
  return {
    propose: async function* ({ cause }) {
      const fixes = await Promise.all(
        signaturesOf(cause).map((signature) => store.rememberedFixes(signature)),
      );
      const byId = new Map(fixes.flat().map((fix) => [fix.id, fix]));
      for (const fix of [...byId.values()].toSorted((a, b) => (a.savedAt < b.savedAt ? 1 : -1))) {
        const edits = await editsOf(fix, root, contents);
        if (edits.length > 0) yield proposedFix(fix, edits);
      }
    },
    attemptEnded: async (cause, attempt, proven) => {
      const { change, proposedBy, remembered, agent, end, reading } = attempt;
      if (isRefuted(end.kind)) {
        // What was green once was remembered; what did not hold, or what a person is asked about, is not tried again.
        const ids = [remembered, savedAs.get(change ?? '')].flatMap((id) => id ?? []);
        for (const id of ids) await store.refuseFix(id, signaturesOf(cause));
        return;
      }
      // The fixer proposes its fixes again at no cost.
      if (end.kind !== 'green' || change === null || agent === null || proposedBy === 'fixer') return;
      const fix = await readFix(folder.dir, change, contents);
      if (!fix || fix.length === 0) return;
      const [secret] = fix.flatMap(({ path, before, after }) =>
        [before, after].flatMap((content) =>
          secretsIn(Buffer.from(content?.bytes ?? '', 'base64').toString('utf8')).map(
            (name) => `${path} holds the ${name}`,
          ),
        ),
      );
      if (secret !== undefined) {
        if (!hasWarned) warn(`${cause.id}: its fix is not remembered, because ${secret}`);
        hasWarned = true;
        return;
      }
      const id = await store.rememberFix({
        runId: folder.runId,
        causeId: cause.id,
        signatures: signaturesOf(cause),
        agent,
        proven,
        // What was not read here may be read where it comes back.
        reading: reading?.verdict === 'honest' ? reading : null,
        edits: fix,
        replaces: remembered ?? null,
      });
      if (id !== null) savedAs.set(change, id);
    },
  };
}

function signaturesOf({ members, lead }: Pick<Cause, 'members' | 'lead'>): string[] {
  return [...new Set([lead, ...members].map(rememberedAs))];
}

/** Whether an attempt failed because of its fix, and not because of the run or other files. */
function isRefuted(kind: Attempt['end']['kind']): boolean {
  return ['still-failing', 'flaky', 'rejected', 'vanished', 'taken-out', 'offered'].includes(kind);
}

/** Returns null for a fix with links, or if its change was deleted. */
async function readFix(
  runDir: string,
  id: string,
  contents: Contents,
): Promise<FixToRemember['edits'] | null> {
  const change = readChange(runDir, id);
  const states = change?.edits.flatMap(({ before, after }) => [before, after]) ?? [];
  if (!change || states.some((state) => state?.kind === 'link')) return null;
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

/** Merges a fix onto the current files. Returns no edits if they conflict, or if the fix is already in the project. */
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
  const stored: FileEdit[] = [];
  for (const { path, before, after } of edits)
    stored.push({ path, before: await put(before), after: await put(after) });
  const merged = await mergeOnto(root, stored, contents);
  return merged.conflicts.length > 0 ? [] : merged.edits.map(withMode);
}

/** Keeps the file's permissions, since only the executable bit is remembered. */
function withMode({ path, before, after }: FileEdit): FileEdit {
  const isSameMode = before && after && isExecutable(before) === isExecutable(after);
  return { path, before, after: isSameMode ? { ...after, mode: before.mode } : after };
}

function proposedFix(
  { id, runId, agent, savedAt, reading }: RememberedFix,
  edits: readonly FileEdit[],
): ProposedFix {
  const summary = `a fix of run ${runId} (${localDay(savedAt)}, /${agent}) was tried first`;
  return {
    agent,
    proposedBy: 'memory',
    remembered: id,
    summary,
    ...(reading ? { reading } : {}),
    edits: async () => ok(edits),
  };
}
