import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { AgentTask } from '../../src/agents/run-agent.js';
import type { AgentEnding } from '../../src/core/attempt.js';
import { healCause } from '../../src/heal-cause.js';
import { aCause, failing } from '../rig/builders.js';
import { finished, healingSession } from '../rig/healing-session.js';

const cause = aCause({ lead: failing('t1', 'boom') });

/** A session whose agent ends like that, start by start, and well after. */
async function ending(...endings: AgentEnding[]) {
  const tasks: AgentTask[] = [];
  const made = await healingSession([null], {
    runAgent: async (task) => {
      tasks.push(task);
      return { ...finished, ending: endings[tasks.length - 1] ?? { kind: 'completed' } };
    },
  });
  return { ...made, tasks };
}

const overloaded = { kind: 'troubled', trouble: 'retryable', reason: 'claude: 529 overloaded' } as const;
const overflow = {
  kind: 'troubled',
  trouble: 'context_overflow',
  reason: 'claude: prompt is too long',
} as const;

it('AG-7 ME-4 an overloaded API costs waits and no attempt', async () => {
  const { session, tasks, events } = await ending(overloaded, overloaded);
  const { attempts, conclusion } = await healCause(session, cause);
  expect(tasks).toHaveLength(3);
  expect(attempts).toHaveLength(1);
  expect(attempts[0]?.usage?.costUsd).toBe(1.5);
  expect(conclusion.verdict).toBe('healed');
  const waits = events.filter((event) => event.type === 'agent.retrying');
  expect(waits).toMatchObject([{ reason: overloaded.reason }, { reason: overloaded.reason }]);
  expect(tasks.map((task) => path.basename(task.logFile))).toEqual([
    '1.log',
    '1.restart-1.log',
    '1.restart-2.log',
  ]);
});

it('AG-7 a full context is met with reduced evidence, once', async () => {
  const { session, tasks } = await ending(overflow);
  await healCause(session, cause);
  const context = JSON.parse(await readFile(tasks[1]?.contextFile ?? '', 'utf8')) as { cut: string[] };
  expect(context.cut.join()).toContain('too small');
  const again = await ending(overflow, overflow);
  const { conclusion } = await healCause(again.session, cause);
  expect(conclusion).toMatchObject({ verdict: 'agent-unusable' });
});

it('AG-7 what does not get better surfaces with a remedy, and is no failed fix', async () => {
  const { session, tasks } = await ending(...Array.from({ length: 9 }, () => overloaded));
  const { attempts, conclusion } = await healCause(session, cause);
  expect(tasks).toHaveLength(6);
  expect(attempts).toMatchObject([{ outcome: 'unusable', judged: 'not-judged' }]);
  expect(conclusion.reason).toMatch(/529 overloaded\. Try again later/);
});
