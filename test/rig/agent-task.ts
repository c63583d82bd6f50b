import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AgentTask } from '../../src/agents/runner.js';
import type { RunnerSettings } from '../../src/model/settings.js';
import { tempDir } from './temp-dir.js';

const fixtures = path.resolve(import.meta.dirname, '../../fixtures/agents');

/** Creates a task for one of the programs in fixtures/agents, in a folder of its own. */
export function agentTask(program: string, over: Partial<AgentTask> & { args?: string[] } = {}): AgentTask {
  const cwd = tempDir('agent größe');
  const { args = [], ...rest } = over;
  const contextFile = path.join(cwd, 'context.json');
  mkdirSync(path.join(cwd, 'attempts'));
  writeFileSync(contextFile, JSON.stringify({ runId: 'run-1' }));
  const command = [process.execPath, path.join(fixtures, `${program}.mjs`), ...args];
  const runner: RunnerSettings = { kind: 'command', command, prompt: 'stdin' };
  return {
    agent: { name: 'debugger', slashCommand: '/debugger', runner: 'own', timeoutMs: 30_000 },
    runner,
    prompt: '/debugger Fix this error so the test can pass.\n',
    contextFile,
    promptFile: path.join(cwd, 'prompt.md'),
    screenshot: null,
    logFile: path.join(cwd, 'attempts', '1.log'),
    cwd,
    runId: `run-${path.basename(cwd)}`,
    attempt: 1,
    resume: null,
    signal: new AbortController().signal,
    onStart: () => undefined,
    onActivity: () => undefined,
    ...rest,
  };
}
