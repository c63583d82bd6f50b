import path from 'node:path';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createRunAgent } from '../../src/agents/create-run-agent.js';
import type { AgentRun } from '../../src/model/attempt.js';
import type { OwnCommandLine } from '../../src/model/built-in.js';
import { decideOutcome } from '../../src/model/verdict.js';
import { agentTask } from '../rig/agent-task.js';
import { quickOrLong } from '../rig/long.js';
import { simulatedRun } from '../rig/simulated-run.js';

const recorded = path.resolve(import.meta.dirname, '../unit/agents/recorded');

/** The outcome of a run for each recorded end of a program: how the program ended, the verdict of the cause, its reason, and the exit code. */
const table: readonly (readonly [
  happened: string,
  end: AgentRun['end']['kind'],
  cause: string,
  why: RegExp,
  exitCode: number,
])[] = [
  ['ok', 'completed', 'healed', /fixed by/, 0],
  ['401', 'unusable', 'agent-unusable', /\. (?:Run `|Set )/, 5],
  ['no-key', 'unusable', 'agent-unusable', /(?:Run `|set \w+KEY)/, 5],
  ['429', 'retryable', 'agent-unusable', /\. The (?:rate limit|provider)/, 5],
  ['503', 'retryable', 'agent-unusable', /\. The provider is overloaded/, 5],
  ['empty', 'completed', 'failed', /still failing/, 1],
  ['hang', 'timed-out', 'failed', /still failing/, 1],
  ['crash', 'signalled', 'failed', /still failing/, 1],
  ['denied', 'completed', 'agent-unusable', /denied/, 5],
  ['asks', 'completed', 'escalated', /Which text is right/, 3],
  ['denied-shell', 'completed', 'escalated', /Which text is right/, 3],
];

/**
 * Runs a program that repeats the recorded output of a real one: the same lines on the same streams, and the same end. Where self-heal stopped the real
 * one, it waits to be stopped.
 */
async function replay(name: OwnCommandLine, happened: string): Promise<AgentRun> {
  const task = agentTask('hangs', {
    runner: { kind: name },
    agent: {
      name: 'debugger',
      slashCommand: '/debugger',
      runner: name,
      timeoutMs: happened === 'hang' ? 2_000 : 60_000,
    },
  });
  const bin = path.join(task.cwd, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  const lines = readFileSync(path.join(recorded, `${name}-${happened}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  const program = `#!${process.execPath}
const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
const alive = setInterval(() => undefined, 1_000);
for (const [what, text] of [${lines.join(',')}]) {
  if (what === 'stop') await stopped;
  else if (what !== 'exit') await new Promise((written) => process[what].write(text + '\\n', written));
  else if (/^\\d+$/.test(text)) process.exit(Number(text));
  else if (text === 'never') stopped.then(() => process.exit());
  else process.kill(process.pid, 'SIGKILL');
}
`;
  writeFileSync(path.join(bin, name), program, { mode: 0o755 });
  writeFileSync(path.join(bin, 'package.json'), '{ "type": "module" }');
  return createRunAgent()(task);
}

describe
  .skipIf(process.platform === 'win32')
  .each((['claude', 'codex'] as const).slice(0, quickOrLong(1, 2)))('what happens to %s', (name) => {
  it.each(table)('AG-6 AG-8 HL-2 %s', async (happened, end, verdict, why, exitCode) => {
    const agentRun = await replay(name, happened);
    expect(agentRun.end).toMatchObject({ kind: end });
    const changesNothing = happened === 'ok' ? [] : Array.from({ length: 20 }, (_, n) => String(n + 1));
    const run = await simulatedRun(['t1'], (_, { fixes }) => (fixes.size > 0 ? null : 'boom'), {
      runAgent: async () => agentRun,
      idle: changesNothing,
    });
    const [cause] = run.report.causes;
    expect(cause).toMatchObject({ verdict, reason: expect.stringMatching(why) as string });
    const tests = run.report.tests.map((test) => test.verdict);
    const result = {
      ...run.record,
      causes: run.ends,
      tests,
      interruptedBy: null,
      failOnHeal: false,
      failOnFlaky: false,
    };
    expect(decideOutcome(result).exitCode).toBe(exitCode);
  });
});
