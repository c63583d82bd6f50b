import type { Watchdog } from '../run/watchdog.js';
import type { Bus } from '../run/bus.js';
import type { RunFolder } from '../run/run-folder.js';
import type { RunJournal } from '../run/run-journal.js';
import { contentsOf } from '../workspace/change.js';
import type { Workspace } from '../workspace/workspace.js';

/** What a workspace needs from its run. */
export interface WorkspaceParts {
  readonly cwd: string;
  readonly folder: RunFolder;
  readonly signal: AbortSignal;
  readonly running: RunJournal;
  readonly bus: Bus;
  readonly watchdog: Watchdog;
}

/** A run's workspace, which a green run never opens (CL-4). */
export interface LateWorkspace {
  /** Opens it on the first call, and returns it. */
  open(): Promise<Workspace>;
  /** Opens it and starts its first copy while the suite is still running, so that the copy is ready when an agent needs it. */
  readonly begin: () => void;
  /** Deletes its copies if it was opened. */
  close(): Promise<void>;
}

/** Creates a workspace that is opened only when something is red. */
export function lateWorkspace(parts: WorkspaceParts): LateWorkspace {
  let opened: Promise<Workspace> | undefined;
  const open = () => (opened ??= openWorkspaceOf(parts));
  let hasBegun = false;
  return {
    open,
    begin: () => {
      if (hasBegun) return;
      hasBegun = true;
      // The next caller of `open` gets the error.
      open().then(
        (workspace) => workspace.prepare(),
        () => undefined,
      );
    },
    close: async () => {
      const workspace = await opened?.catch(() => undefined);
      await workspace?.close();
    },
  };
}

async function openWorkspaceOf(parts: WorkspaceParts): Promise<Workspace> {
  const { cwd, folder, signal, bus, watchdog } = parts;
  const { openWorkspace } = await import('../workspace/workspace.js');
  return openWorkspace({
    project: cwd,
    runId: folder.runId,
    runDir: folder.dir,
    contents: contentsOf(folder.dir),
    signal,
    onCopy: (copies) => watchdog.watch(copies),
    warn: (message) => bus.emit({ type: 'run.warning', message }),
  });
}
