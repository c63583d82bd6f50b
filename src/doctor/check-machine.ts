import { rmdir } from 'node:fs/promises';
import { isAtLeast } from '../playwright/find-playwright.js';
import { bad, good, type Check, doubtful, probe, type ProbePlace } from './check.js';
import { gitRootOf } from '../git/git-root.js';
import { gitSays } from '../git/git.js';
import { reasonOf } from '../problem.js';
import {
  hasStateFolder,
  makeStateFolder,
  removeState,
  stateFolder,
  stateProblem,
  writeState,
} from '../state-folder.js';

/** The oldest supported version of Node, as in package.json. */
const oldest = [20, 19] as const;

/** Checks whether self-heal supports this version of Node. */
export function checkNode(version: string): Check {
  return isAtLeast(version, oldest)
    ? good('node', version)
    : bad('node', `${version} is too old`, `Install Node ${oldest.join('.')} or later.`);
}

/** Checks whether git is installed and recent enough, and whether it ignores `.self-heal`. */
export async function checkGit(place: ProbePlace): Promise<Check[]> {
  const { exitCode, output } = await probe(['git', '--version'], place);
  if (exitCode !== 0) {
    return [doubtful('git', 'not found', 'Install git: `self-heal guard` and coding agents need it.')];
  }
  const version = /\d+\.\d+[\w.]*/.exec(output)?.[0] ?? output.trim();
  return [checkVersion(version), await checkIgnored(place)];
}

/** `git log --diff-merges=first-parent`, which blame uses to find commits, exists since 2.31. */
function checkVersion(version: string): Check {
  if (isAtLeast(version, [2, 31])) return good('git', version);
  return doubtful('git', version, 'Install git 2.31 or newer for `self-heal blame`; everything else works.');
}

async function checkIgnored(place: ProbePlace): Promise<Check> {
  const { exitCode, output } = await probe(['git', 'check-ignore', '--quiet', '.self-heal/runs/x'], place);
  if (exitCode === 0) return good('ignore entry', 'git ignores .self-heal');
  if (exitCode === 1) return good('ignore entry', 'not needed: a run makes git ignore .self-heal');
  if (gitRootOf(place.cwd) === null) return good('ignore entry', 'not a git repository');
  return doubtful(
    'ignore entry',
    `git cannot read this repository: ${gitSays(output)}`,
    'Run `git status` here: it says what to do.',
  );
}

/** Checks whether `.self-heal` can be used, created and written, and removes whatever it created to find out. */
export async function checkFolder(cwd: string): Promise<Check> {
  const problem = await stateProblem(cwd);
  if (problem) return bad('.self-heal', problem.message, problem.remedy);
  const folder = stateFolder(cwd);
  const file = stateFolder(cwd, `doctor-${process.pid}.tmp`);
  const wasThere = hasStateFolder(cwd);
  try {
    makeStateFolder(folder);
    await writeState(file, '');
    await removeState(file);
    if (!wasThere) await rmdir(folder);
    return good('.self-heal', 'writable');
  } catch (error) {
    const remedy = 'Make the project folder writable, or free some disk space.';
    return bad('.self-heal', `cannot be written: ${reasonOf(error)}`, remedy);
  }
}
