import { execa } from 'execa';
import type { RunAgent } from './run-agent.js';

// STOPGAP
export function createRunAgent(): RunAgent {
  return async (task) => {
    const started = Date.now();
    const [file = '', ...args] = task.runner.kind === 'command' ? task.runner.command : ['claude'];
    const child = execa(file, args, {
      cwd: task.cwd, input: task.prompt, reject: false, all: true, timeout: task.agent.timeoutMs, cancelSignal: task.signal,
      env: { SELF_HEAL_CONTEXT: task.contextFile, SELF_HEAL_PROMPT: task.promptFile, SELF_HEAL_RUN_ID: task.runId, SELF_HEAL_ATTEMPT: String(task.attempt) },
    });
    task.onStart(child.pid ?? 0);
    const r = await child;
    const line = /SELF-HEAL: (\{.*\})/.exec(r.all ?? '')?.[1];
    const claim = line ? JSON.parse(line) : /^Fix applied successfully$/m.test(r.all ?? '') ? { status: 'fixed', summary: '' } : null;
    (await import('node:fs')).writeFileSync(task.logFile, r.all ?? '');
    return {
      ending: r.isCanceled ? { kind: 'aborted' } : r.timedOut ? { kind: 'timed-out', afterMs: 1 } : r.exitCode === 0 ? { kind: 'completed' } : { kind: 'exited', exitCode: r.exitCode ?? -1 },
      claim, usage: { costUsd: null, inputTokens: null, outputTokens: null, turns: null, sessionId: null }, denials: [], durationMs: Date.now() - started, tail: '', leftovers: [],
    };
  };
}
