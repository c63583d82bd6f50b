import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'vitest';
import { claudeRunner } from '../../src/agents/claude-runner.js';
import { codexRunner } from '../../src/agents/codex-runner.js';
import { expandPrompt } from '../../src/agents/expand-command.js';
import { createLineSplitter } from '../../src/agents/line-splitter.js';
import { selectEnv } from '../../src/agents/create-run-agent.js';
import type { OutputStream } from '../../src/agents/runner.js';
import { agentTask } from '../rig/agent-task.js';
import { tempDir } from '../rig/temp-dir.js';
import { question, commandFile, finalMessage, realPrograms, type RealProgram } from './real-program.js';
import { startStubApi, type Step } from './stub-api.js';

// Records anew what test/integration/agent-outcomes.test.ts replays, with the versions that are installed:
// SELF_HEAL_RECORD=1 npm run test:agents claude codex test/agents/record.test.ts

const folder = path.resolve(import.meta.dirname, '../unit/agents/recorded');
const runners = { claude: claudeRunner, codex: codexRunner };

type Steps = (program: RealProgram, place: { file: string; outside: string }) => readonly Step[];
const scenarios: Readonly<Record<string, Steps>> = {
  ok: (program, { file }) => [...program.edits(file), finalMessage],
  '401': () => [{ status: 401 }],
  'no-key': () => [finalMessage],
  '429': () => [{ status: 429 }],
  '503': () => [{ status: 503 }],
  empty: () => [{ text: '' }],
  hang: () => ['hang'],
  crash: () => ['hang'],
  denied: (program, { outside }) => [program.creates(outside), finalMessage],
  asks: () => [question],
  'denied-shell': (program) => [program.runs, question],
};

/** Returns the environment without a key. */
function withoutKey(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([key]) => !/KEY|TOKEN/.test(key)));
}

async function record(program: RealProgram, scenarioFile: string, steps: Steps): Promise<void> {
  const name = program.name === 'codex' ? 'codex' : 'claude';
  const task = agentTask('hangs', { runner: { kind: name } });
  for (const [file, text] of Object.entries(commandFile(program))) {
    mkdirSync(path.dirname(path.join(task.cwd, file)), { recursive: true });
    writeFileSync(path.join(task.cwd, file), text);
  }
  const place = { file: path.join(task.cwd, 'a.txt'), outside: path.join(tempDir(), 'outside.txt') };
  writeFileSync(place.file, 'one\n');
  await using stub = await startStubApi(steps(program, place));
  const whole = program.env(stub.url);
  const env = scenarioFile === 'no-key' ? withoutKey(whole) : whole;
  const prompt = await expandPrompt(task.runner, task.prompt, { cwd: task.cwd, clean: (text) => text });
  const { file, args, env: own, input, passedVariables } = runners[name].createCommand({ ...task, prompt });
  const seen: [OutputStream | 'stop' | 'exit', string][] = [];
  const child = spawn(file, args, {
    cwd: task.cwd,
    env: { ...selectEnv(env, passedVariables), ...own },
    detached: true,
  });
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid ?? 0), signal);
    } catch {
      // It is gone.
    }
  };
  const killSoon = () => void setTimeout(() => kill('SIGKILL'), 5_000).unref();
  const { readLine } = runners[name].openConversation(task, {
    log: () => undefined,
    show: () => undefined,
    finish: killSoon,
    stop: () => {
      if (seen.some(([what]) => what === 'stop')) return;
      seen.push(['stop', '']);
      kill('SIGTERM');
      killSoon();
    },
    clean: (text) => text,
  });
  const onLine = (text: string, from: OutputStream) => {
    seen.push([from, text]);
    readLine?.(text, from);
  };
  for (const from of ['stdout', 'stderr'] as const) {
    const split = createLineSplitter((text) => onLine(text, from));
    child[from].on('data', (chunk: Buffer) => split.write(chunk)).on('end', () => split.end());
  }
  child.stdin.on('error', () => undefined).end(input);
  const isEndless = scenarioFile === 'hang' || scenarioFile === 'crash';
  const timer = setTimeout(() => kill('SIGKILL'), isEndless ? 12_000 : 150_000);
  const end = await new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? String(code)));
  });
  clearTimeout(timer);
  kill('SIGKILL');
  seen.push(['exit', scenarioFile === 'hang' ? 'never' : end]);
  const anonymous = (text: string) =>
    text
      .replaceAll(task.cwd, '/project')
      .replaceAll(env['HOME'] ?? '', '/home/user')
      .replaceAll(path.dirname(place.outside), '/elsewhere')
      .replaceAll(homedir(), '/home/other');
  const lines = seen.map(([what, text]) => JSON.stringify([what, anonymous(text)]));
  const short = lines.filter((one) => one.length < 6_000);
  writeFileSync(path.join(folder, `${name}-${scenarioFile}.jsonl`), `${short.join('\n')}\n`);
}

const recorded = realPrograms.filter(({ name }) => name in runners);

describe.runIf(process.env['SELF_HEAL_RECORD']).each(recorded)('$name', (program) => {
  it.each(Object.entries(scenarios))('AG-6 is recorded: %s', (scenarioFile, steps) =>
    record(program, scenarioFile, steps),
  );
});
