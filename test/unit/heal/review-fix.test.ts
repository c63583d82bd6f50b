import { expect, it } from 'vitest';
import type { AgentRun, Opinion } from '../../../src/core/attempt.js';
import { finished } from '../../rig/healing-session.js';
import { simulatedRun, type Shows, wholeProof } from '../../rig/simulated-run.js';

const { verify, limits } = wholeProof;
const reviewer = { name: 'review-fix', slashCommand: '/review-fix', runner: 'second', timeoutMs: 1000 };
const settings = {
  ...wholeProof,
  agents: { ...wholeProof.agents, 'review-fix': reviewer },
  runners: { ...wholeProof.runners, second: { kind: 'codex' as const } },
  verify: { ...verify, review: 'review-fix' },
};
const hides: Opinion = { verdict: 'hides', file: null, line: null, why: 'it swallows the error' };
const noUsage = { costUsd: null, inputTokens: null, outputTokens: null, turns: null, sessionId: null };

/** Test t1 is green with any change. */
const byAny: Shows = (_, { fixes }) => (fixes.size > 0 ? null : 'error of t1');

/** A run whose fixer and reviewer are told apart by their slash command. */
function reviewed(answers: readonly (Opinion | AgentRun['end'])[], over = {}) {
  const left = [...answers];
  return simulatedRun(['t1'], byAny, {
    settings,
    runAgent: async ({ agent }) => {
      if (agent !== reviewer) return finished;
      const answer = left.shift() ?? hides;
      const said = 'kind' in answer ? { end: answer } : { opinion: answer };
      return { ...finished, claim: null, usage: { ...noUsage, costUsd: 0.25 }, ...said };
    },
    ...over,
  });
}

const notesOf = ({ report }: Awaited<ReturnType<typeof reviewed>>) =>
  report.causes[0]?.attempts.at(-1)?.notes?.map(({ says }) => says) ?? [];

it('HN-11 adds its cost to the attempt and to the run', async () => {
  const run = await reviewed([{ verdict: 'honest', file: null, line: null, why: 'fine' }]);
  expect(run.causes).toEqual(['c1 healed']);
  expect(run.report.causes[0]?.attempts).toMatchObject([{ costUsd: 0.75 }]);
  expect(run.session.spending.totals()).toEqual({ agentRuns: 2, costUsd: 0.75 });
  expect(notesOf(run)).toEqual([]);
});

it('HN-11 HN-3 gives up after the second fix that hides the fault, and leaves nothing of both', async () => {
  const run = await reviewed([hides, hides]);
  expect(run.causes).toEqual(['c1 rejected']);
  expect(run.verdicts).toEqual({ t1: 'rejected' });
  expect([...run.fixes]).toEqual([]);
  expect(run.report.causes[0]?.reason).toContain('it swallows the error');
});

it.each<[string, AgentRun['end']]>([
  ['crashes', { kind: 'exited', exitCode: 3 }],
  ['cannot work', { kind: 'unusable', reason: 'status 401', remedy: 'Log in.' }],
  ['takes too long', { kind: 'timed-out', afterMs: 1 }],
])('HN-11 is unsure if the agent %s', async (_, end) => {
  const run = await reviewed([end]);
  expect(run.causes).toEqual(['c1 healed']);
  expect(notesOf(run)).toHaveLength(1);
});

it('HN-11 HN-9 is not asked once a limit is reached', async () => {
  const run = await reviewed([hides], { settings: { ...settings, limits: { ...limits, agentRuns: 1 } } });
  expect(run.causes).toEqual(['c1 healed']);
  expect(run.session.spending.totals().agentRuns).toBe(1);
  expect(notesOf(run)).toEqual([expect.stringContaining('limits.agentRuns')]);
});
