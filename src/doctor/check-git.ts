import { doubtful, good, type Check } from './check.js';
import { probe, type ProbePlace } from './probe.js';

/** Whether there is a git, by which fixes that do not hold are reverted; and whether it leaves `.self-heal` alone. */
export async function checkGit(place: ProbePlace): Promise<Check[]> {
  const { exitCode, output } = await probe(['git', '--version'], place);
  if (exitCode !== 0) {
    return [doubtful('git', 'not found', 'Install git: `self-heal guard` and coding agents need it.')];
  }
  const version = /\d+\.\d+[\w.]*/.exec(output)?.[0] ?? output.trim();
  return [good('git', version), await checkIgnored(place)];
}

async function checkIgnored(place: ProbePlace): Promise<Check> {
  const { exitCode } = await probe(['git', 'check-ignore', '--quiet', '.self-heal/runs/x'], place);
  if (exitCode === 0) return good('ignore entry', 'git ignores .self-heal');
  if (exitCode === 1) {
    return doubtful(
      'ignore entry',
      'git does not ignore .self-heal yet',
      'Run `self-heal init`, or add .self-heal/ to .gitignore.',
    );
  }
  return good('ignore entry', 'not a git repository');
}
