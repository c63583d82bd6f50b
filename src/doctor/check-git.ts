import { gitRootOf } from '../git-root.js';
import { gitSays } from '../git.js';
import { isAtLeast } from '../is-at-least.js';
import { doubtful, good, type Check } from './check.js';
import { probe, type ProbePlace } from './probe.js';

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
