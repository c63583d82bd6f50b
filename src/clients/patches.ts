import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isKept } from '../model/attempt.js';
import { builtIn } from '../model/built-in.js';
import { failureKey } from '../model/failure.js';
import { explainProtection } from '../guard/protected-files.js';
import type { Propose, ProposedFix } from '../heal/hooks.js';
import type { Problem } from '../problem.js';
import { type Artifact, listFixedCauses, readArtifacts } from './publish/artifact.js';
import { applyToContent, type PublishedFile, readFix } from './publish/fix.js';
import { err, ok, type Result } from '../result.js';
import type { ContentStore } from '../workspace/change.js';
import { type FileEdit, readFileState } from '../workspace/file-state.js';

/** A fix from another machine, and the tests that it healed there. */
export interface RemoteFix {
  readonly agent: string;
  readonly runId: string;
  /** The ids of the tests of its causes; empty for a failure of the suite itself. */
  readonly tests: ReadonlySet<string>;
  readonly fix: readonly PublishedFile[];
}

/** Reads the fixes in the artifacts of other machines. They are as untrusted as an agent's work, so skips a fix that changes a protected file. */
export async function readPatches(folders: readonly string[]): Promise<Result<RemoteFix[], Problem>> {
  const artifacts = await readArtifacts(folders);
  if (!artifacts.ok) return artifacts;
  return ok(artifacts.value.flatMap(readFixes));
}

function readFixes({ report, fix }: Artifact): RemoteFix[] {
  const files = fix === null ? null : readFix(fix, explainProtection);
  if (!files?.ok) return [];
  const healed = listFixedCauses(report);
  const agent = healed.at(-1)?.attempts.findLast(isKept)?.agent ?? builtIn;
  return [
    { agent, runId: report.runId, tests: new Set(healed.flatMap(({ tests }) => tests)), fix: files.value },
  ];
}

/** Proposes fixes from other machines. */
export function proposePatches(patches: readonly RemoteFix[]): Propose {
  return async function* ({ cause: { members, lead } }) {
    const ids = new Set(members.map(({ failure }) => failureKey(failure)));
    const patch = patches.find(({ tests }) =>
      lead.failure.scope === 'suite' ? tests.size === 0 : [...tests].some((id) => ids.has(id)),
    );
    if (patch) yield createProposedFix(patch);
  };
}

function createProposedFix({ agent, runId, fix }: RemoteFix): ProposedFix {
  return {
    agent,
    proposedBy: 'patch',
    summary: `the fix from run ${runId} on another machine`,
    edits: async (root, contents) => {
      const edits: FileEdit[] = [];
      for (const file of fix) {
        const edit = await createEdit(file, root, contents);
        if (edit === null) return err(`${file.path} has changed, here or by another patch`);
        edits.push(edit);
      }
      return ok(edits);
    },
  };
}

async function createEdit(file: PublishedFile, root: string, store: ContentStore): Promise<FileEdit | null> {
  const before = readFileState(root, file.path);
  if (before === 'other' || before?.kind === 'link') return null;
  const current = before && readFileSync(path.join(root, file.path));
  const content = applyToContent(file, current);
  if (content === 'conflict') return null;
  if (current) await store.put(current);
  const mode = file.isExecutable === null ? (before?.mode ?? 0o644) : file.isExecutable ? 0o755 : 0o644;
  const after = content && { kind: 'file' as const, hash: await store.put(content), mode };
  return { path: file.path, before, after };
}
