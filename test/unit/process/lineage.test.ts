import { expect, it } from 'vitest';
import { withRelatives, parsePs, type ProcessEntry } from '../../../src/process/proc-table.js';

function entry(pid: number, over: Partial<ProcessEntry> = {}): ProcessEntry {
  return {
    pid,
    parent: 1,
    group: pid,
    session: pid,
    hasTerminal: false,
    startedAt: `at ${pid}`,
    zombie: false,
    command: 'sleep',
    ...over,
  };
}

const agent = entry(10);
const user = entry(90);

it.each([
  ['a child', entry(11, { parent: 10 })],
  ['a member of its group', entry(11, { group: 10 })],
  ['a member of its session', entry(11, { session: 10 })],
])('AG-10 %s belongs to the agent, and so does its own child, in any order', (_, relative) => {
  const child = entry(12, { parent: 11 });
  const found = withRelatives([agent], [child, user, relative, agent]);
  expect(found.map(({ pid }) => pid).toSorted((a, b) => a - b)).toEqual([10, 11, 12]);
});

it('AG-10 keeps a known process that is gone, and finds others in its session', () => {
  const later = entry(12, { session: 10 });
  expect(withRelatives([agent], [user, later])).toEqual([agent, later]);
});

it('AG-10 ignores a process that has reused the pid of one that is gone', () => {
  const stranger = entry(10, { startedAt: 'later' });
  const childOfStranger = entry(12, { parent: 10 });
  expect(withRelatives([agent], [stranger, childOfStranger])).toEqual([agent]);
});

it('AG-10 reads the output of ps on macOS', () => {
  const stdout = [
    '    1     0     1 ??       Ss   Sat Nov 21 08:38:05 2026     /sbin/launchd',
    '  412     1   412 ttys001  Z+   Sun Nov 22 05:04:00 2026     (node)',
  ].join('\n');
  expect(parsePs(stdout)).toMatchObject([
    { pid: 1, parent: 0, group: 1, hasTerminal: false, zombie: false, command: '/sbin/launchd' },
    {
      pid: 412,
      parent: 1,
      group: 412,
      hasTerminal: true,
      zombie: true,
      startedAt: 'Sun Nov 22 05:04:00 2026',
    },
  ]);
});
