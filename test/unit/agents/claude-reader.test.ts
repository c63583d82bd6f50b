import { describe, expect, it } from 'vitest';
import { claudeReader } from '../../../src/agents/claude-runner.js';

/** A result line in the shape that Claude Code 2.1.329 prints. */
const result = (over: object) =>
  JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: false,
    api_error_status: null,
    num_turns: 3,
    result: 'Fix applied successfully',
    session_id: '9b2f',
    total_cost_usd: 0.00234,
    usage: { input_tokens: 360, output_tokens: 45 },
    permission_denials: [],
    terminal_reason: 'completed',
    ...over,
  });

function read(...lines: string[]) {
  const reader = claudeReader();
  return { seen: lines.map((line) => reader.line(line, 'stdout')), result: reader.result() };
}

describe('Claude Code’s stream-json', () => {
  it('AG-3 finds the machine-readable line in the final text', () => {
    const text = 'I added the policy.\n\nSELF-HEAL: {"status":"not-fixed","summary":"no access"}';
    expect(read(result({ result: text })).result.claim).toEqual({
      status: 'not-fixed',
      summary: 'no access',
    });
  });

  it('AG-8 names the tool calls that were denied', () => {
    const denied = [{ tool_name: 'Edit', tool_use_id: 'x', tool_input: {} }];
    expect(read(result({ permission_denials: denied })).result.denials).toEqual(['Edit']);
  });

  it.each([
    ['not logged in', { is_error: true, num_turns: 1, result: 'Not logged in · Please run /login' }, /login/],
    [
      'status 401',
      { is_error: true, api_error_status: 401, result: 'Invalid API key · Fix external API key' },
      /login/,
    ],
    [
      'status 403',
      { is_error: true, api_error_status: 403, result: 'Failed to authenticate. API Error: 403' },
      /login/,
    ],
    ['no credit', { is_error: true, api_error_status: 400, result: 'Credit balance is too low' }, /credit/],
    ['unknown command', { num_turns: 0, result: 'Unknown command: /nope' }, /slash command/],
  ])('AG-8 recognizes an error that only a person can fix: %s', (_, over, remedy) => {
    const { error } = read(result(over)).result;
    expect(error).toMatchObject({ kind: 'unusable', remedy: expect.stringMatching(remedy) });
  });

  it('AG-5 treats is_error as a failure even if the subtype says success', () => {
    const over = { is_error: true, api_error_status: 500, result: 'API Error: 500' };
    expect(read(result(over)).result.error).toEqual({
      kind: 'retryable',
      reason: 'claude: status 500: API Error: 500',
    });
  });

  it('AG-8 does not report a missing login because an agent mentions one', () => {
    expect(read(result({ result: 'The page said: Not logged in. Fixed.' })).result.error).toBeNull();
  });
});
