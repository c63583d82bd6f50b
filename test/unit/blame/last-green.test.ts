import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lastGreenCommits } from '../../../src/blame/last-green.js';
import { checkedOut } from '../../../src/run/checked-out.js';
import type { Report } from '../../../src/run/report.js';
import { aReport, aReportAttempt, aReportCause, aReportTest } from '../../rig/a-report.js';
import { leaveRun } from '../../rig/events-of-report.js';
import { gitRepository } from '../../rig/git-repository.js';

const passed = (...ids: string[]) => ids.map((id) => aReportTest({ id, verdict: 'passed' }));

/** A repository in which runs leave their folders. */
function repository() {
  const { dir, git, write, commit: commitFiles } = gitRepository();
  write({ '.gitignore': '.self-heal/\n' });
  let n = 0;
  const commit = () => commitFiles({ 'app.ts': String((n += 1)) });
  let runs = 0;
  const run = (report: Partial<Report>) => {
    const runId = `20260101-000000-${String((runs += 1)).padStart(4, '0')}`;
    return leaveRun(dir, aReport({ causes: [], ...report, runId }));
  };
  return { dir, git, write, commit, run, lastGreen: (id: string) => lastGreenCommits(dir)(id) };
}

it('BL-1 finds the last green commit of a test in the newest run that saw it pass, even of a shard or a selection', async () => {
  const { commit, run, lastGreen } = repository();
  const [one, two, three] = [commit(), commit(), commit()];
  run({ commit: one, tests: passed('a', 'b', 'c') });
  run({ commit: two, tests: passed('b') });
  run({ commit: three, tests: [aReportTest({ id: 'a', verdict: 'failed' }), ...passed('c')] });
  const found = await Promise.all(['a', 'b', 'c', 'new'].map(lastGreen));
  expect(found).toEqual([one, two, three, null]);
});

it('BL-1 ignores a run with uncommitted changes, one that agents changed, and a resumed one', async () => {
  const { dir, write, commit, run, lastGreen } = repository();
  const old = commit();
  expect(await checkedOut(dir)).toEqual({ commit: old, isDirty: false });
  write({ 'app.ts': 'other', 'new.ts': 'new' });
  expect((await checkedOut(dir)).isDirty).toBe(true);
  const now = commit();
  run({ commit: old, tests: passed('a') });
  run({ commit: null, tests: passed('a') });
  run({ commit: now, resumedFrom: '20260101-000000-0001', tests: passed('a') });
  const causes = [aReportCause({ attempts: [aReportAttempt({ change: '1' })] })];
  run({ commit: now, causes, tests: passed('a') });
  expect(await lastGreen('a')).toBe(old);
  // An attempt that changed nothing does not matter.
  run({
    commit: now,
    causes: [aReportCause({ attempts: [aReportAttempt({ change: null })] })],
    tests: passed('a'),
  });
  expect(await lastGreen('a')).toBe(now);
});

it('BL-1 skips a commit of another branch or from before a rebase, and a run whose folder is gone', async () => {
  const { git, commit, run, lastGreen } = repository();
  const base = commit();
  git('checkout', '--quiet', '-b', 'other');
  const elsewhere = commit();
  git('checkout', '--quiet', 'main');
  const mine = commit();
  run({ commit: base, tests: passed('a') });
  const folder = run({ commit: mine, tests: passed('a') });
  run({ commit: elsewhere, tests: passed('a') });
  run({ commit: 'f'.repeat(40), tests: passed('a') });
  expect(await lastGreen('a')).toBe(mine);
  rmSync(folder, { recursive: true });
  expect(await lastGreen('a')).toBe(base);
  git('checkout', '--quiet', '--orphan', 'fresh');
  commit();
  expect(await lastGreen('a')).toBeNull();
});
