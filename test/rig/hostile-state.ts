import { createHash } from 'node:crypto';
import { execaSync } from 'execa';
import { aReport, aReportAttempt, aReportCause, aReportTest } from './a-report.js';
import { leaveRun } from './events-of-report.js';
import { writeInto } from './agent-workspace.js';
import path from 'node:path';

/** The run that a hostile project brings along. */
export const hostileRun = '20261121-071500-4f3a';

/** Puts a run into a project whose undo creates a file; `root` is how older versions named the folder that it belongs to. */
export function bringRun(project: string, file: string, root?: string): void {
  const content = 'planted\n';
  const hash = createHash('sha256').update(content).digest('hex');
  const state = { kind: 'file', hash, mode: 0o644 };
  const tests = [aReportTest({ verdict: 'healed' })];
  const causes = [aReportCause({ attempts: [aReportAttempt({ change: '1', patch: null })] })];
  leaveRun(project, aReport({ runId: hostileRun, tests, causes }));
  writeInto(path.join(project, '.self-heal/changes', hostileRun), {
    '1.json': JSON.stringify({
      schemaVersion: 1,
      id: '1',
      ...(root === undefined ? {} : { root }),
      edits: [{ path: file, before: state, after: null }],
      folders: [],
    }),
    [`contents/${hash}`]: content,
  });
}

/** Commits files of a folder, by default all of them, ignored ones too. */
export function commitAll(dir: string, paths: readonly string[] = ['.']): void {
  const git = (...args: string[]) =>
    execaSync('git', ['-c', 'user.name=me', '-c', 'user.email=me@example.com', ...args], { cwd: dir });
  git('init', '--quiet');
  git('add', '--all', '--force', '--', ...paths);
  git('commit', '--quiet', '-m', 'all');
}
