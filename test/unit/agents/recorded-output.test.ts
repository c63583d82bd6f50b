import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { claudeReader } from '../../../src/agents/claude-runner.js';
import { codexReader } from '../../../src/agents/codex-runner.js';
import { copilotReader } from '../../../src/agents/copilot-runner.js';
import { geminiReader } from '../../../src/agents/gemini-runner.js';
import { opencodeReader } from '../../../src/agents/opencode-runner.js';
import type { OutputReader, OutputStream } from '../../../src/agents/runner.js';

// What the real programs wrote when they ran against a stub of their provider (Claude Code 2.1.332, and 2.1.329 in drop and long; Codex
// 0.169.0, Gemini CLI 0.61.0, opencode 1.18.33, Copilot CLI 1.0.102); paths are replaced, very long lines are left out.

const readers: Readonly<Record<string, () => OutputReader>> = {
  claude: claudeReader,
  codex: codexReader,
  gemini: geminiReader,
  opencode: opencodeReader,
  copilot: copilotReader,
};

function replay(program: string, scenario: string) {
  const reader = (readers[program] ?? claudeReader)();
  const file = path.join(import.meta.dirname, 'recorded', `${program}-${scenario}.jsonl`);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const seen = lines.map((line) => {
    const [from, text] = JSON.parse(line) as [OutputStream, string];
    return reader.line(text, from);
  });
  return { seen, result: reader.result() };
}

describe.each(Object.keys(readers))('recorded output of %s', (program) => {
  it('AG-3 AG-9 a fix yields a claim, a session, an end and no error', () => {
    const { seen, result } = replay(program, 'ok');
    expect(result).toMatchObject({
      claim: { status: 'fixed', summary: 'one is two' },
      denials: [],
      error: null,
      usage: { sessionId: expect.stringMatching(/^[\w-]{10,}$/) },
    });
    expect(seen.some((one) => one.complete)).toBe(true);
    expect(seen.some((one) => one.hopeless)).toBe(false);
    expect(seen.some((one) => /a\.txt/.test(one.activity ?? '') || one.activity === 'edit')).toBe(true);
  });

  it('AG-8 a denied edit is noticed even if the program succeeds and the model claims a fix', () => {
    const { result } = replay(program, 'denied');
    expect(result.denials.length).toBeGreaterThan(0);
    expect(result).toMatchObject({ error: null, claim: { status: 'fixed' } });
  });

  it.each([
    ['401', 'unusable'],
    ['503', 'retryable'],
    ['drop', 'retryable'],
    ['long', 'context-overflow'],
  ])('AG-6 %s is %s', (scenario, kind) => {
    const { seen, result } = replay(program, scenario);
    expect(result.error).toMatchObject({ kind, reason: expect.stringMatching(`^${program}: `) });
    // The program either ends by itself, or keeps retrying in vain and is stopped.
    expect(seen.some((one) => one.complete || one.hopeless) || ['401', 'long'].includes(scenario)).toBe(true);
  });
});

describe('usage', () => {
  it.each([
    ['claude', { inputTokens: 360, outputTokens: 45, turns: 3, costUsd: 0.00234 }],
    ['codex', { inputTokens: 240, outputTokens: 30, turns: 1, costUsd: null }],
    ['gemini', { inputTokens: 240, outputTokens: 30, turns: 2, costUsd: null }],
    ['opencode', { inputTokens: 360, outputTokens: 45, turns: 3, costUsd: expect.closeTo(0.00045, 8) }],
    ['copilot', { inputTokens: null, turns: 2, costUsd: null }],
  ])('AG-9 %s reports its usage, with null for what it does not state', (program, usage) => {
    expect(replay(program, 'ok').result.usage).toMatchObject(usage);
  });
});
