import { expect, it } from 'vitest';
import { drivingAgent } from '../../../src/outputs/is-terse.js';

it.each([
  [{ CLAUDECODE: '1' }, 'claude'],
  [{ CODEX_THREAD_ID: '0198' }, 'codex'],
  [{ CODEX_SANDBOX: 'seatbelt' }, 'codex'],
  [{ GEMINI_CLI: '1' }, 'gemini'],
  [{ OPENCODE: '1' }, 'opencode'],
  [{ CURSOR_AGENT: '1' }, 'cursor'],
  [{ COPILOT_CLI: '1' }, 'copilot'],
  [{ SELF_HEAL_ATTEMPT: '1' }, 'self-heal'],
  [{ AI_AGENT: 'a-new-one', CLAUDECODE: '1' }, 'a-new-one'],
  [{ AGENT: '1' }, '1'],
  [{ AGENT: 'goose' }, 'goose'],
])('RP-1 detects by %j that an agent runs it', (env, agent) => {
  expect(drivingAgent(env)).toBe(agent);
});

it.each([
  {},
  { CLAUDECODE: '' },
  { CLAUDECODE: '0' },
  { AI_AGENT: 'false' },
  { AGENT: 'jenkins-7' },
  { CURSOR_TRACE_ID: 'a' },
  { TERM_PROGRAM: 'kiro' },
  { CODEX_HOME: '/home/me/.codex' },
  { SELF_HEAL_RUN_ID: 'r' },
])('RP-1 takes %j for a person', (env) => {
  expect(drivingAgent(env)).toBeNull();
});
