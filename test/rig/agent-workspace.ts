import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execaSync } from 'execa';
import { onTestFinished } from 'vitest';
import { openContentStore } from '../../src/workspace/change.js';
import { openWorkspace, type Workspace } from '../../src/workspace/workspace.js';
import { tempDir } from './temp-dir.js';

/** A project on disk, its workspace, and an agent that does something in the copy. */
export interface AgentWorkspace {
  readonly dir: string;
  readonly runDir: string;
  readonly workspace: Workspace;
  readonly warnings: string[];
  readonly write: (files: Readonly<Record<string, string>>) => void;
  readonly read: (file: string) => string;
  readonly git: (...args: string[]) => string;
  /** Lets an agent work in the copy, and returns its changes. */
  readonly agent: (work: (cwd: string) => void) => ReturnType<Workspace['collectChanges']>;
  /** Lets an agent work, and applies its change to the project; throws if it changed nothing. */
  readonly applied: (work: (cwd: string) => void) => ReturnType<Workspace['apply']>;
}

/** Writes files below a folder. */
export function writeInto(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

/** Creates a project in a repository (`git: false` for none); `at` is the project's folder in it. */
export async function agentWorkspace(
  files: Readonly<Record<string, string>>,
  { git = true, at = '' }: { git?: boolean; at?: string } = {},
): Promise<AgentWorkspace> {
  const dir = tempDir('größe mit Raum');
  const project = path.join(dir, at);
  writeInto(dir, files);
  const run = (...args: string[]) => execaSync('git', args, { cwd: dir }).stdout;
  if (git) {
    run('init', '--quiet', '--template=', '--initial-branch=main');
    run('add', '--all');
    run('commit', '--quiet', '-m', 'first');
  }
  const runId = `20260101-000000-${path.basename(dir).slice(-6)}`;
  const runDir = path.join(project, '.self-heal', 'runs', runId);
  mkdirSync(runDir, { recursive: true });
  writeInto(path.join(project, '.self-heal'), { '.gitignore': '*\n' });
  const warnings: string[] = [];
  const workspace = await openWorkspace({
    project,
    runId,
    runDir,
    contents: openContentStore(runDir),
    onCopy: () => undefined,
    warn: (message) => void warnings.push(message),
  });
  onTestFinished(() => workspace.close());
  let n = 0;
  const agent: AgentWorkspace['agent'] = async (work) => {
    const { cwd } = await workspace.updateCopy();
    work(cwd);
    return workspace.collectChanges(String((n += 1)));
  };
  return {
    dir,
    runDir,
    workspace,
    warnings,
    git: run,
    write: (files) => writeInto(dir, files),
    read: (file) => readFileSync(path.join(dir, file), 'utf8'),
    agent,
    applied: async (work) => {
      const { change, refused } = await agent(work);
      if (!change) throw new Error(refused ?? 'it changed nothing');
      return workspace.apply(change);
    },
  };
}

/** Maps every entry of a folder, except `.self-heal`, to its kind, mode, and content or target. */
export function listInventory(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (below: string) => {
    for (const name of readdirSync(path.join(folder, below))) {
      const file = path.join(below, name);
      if (name === '.self-heal') continue;
      const info = lstatSync(path.join(folder, file));
      const mode = (info.mode & 0o777).toString(8);
      if (info.isDirectory()) walk(file);
      found[file] = info.isDirectory()
        ? `folder ${mode}`
        : info.isSymbolicLink()
          ? `→ ${readlinkSync(path.join(folder, file))}`
          : `${mode} ${readFileSync(path.join(folder, file), 'latin1')}`;
    }
  };
  walk('');
  return found;
}
