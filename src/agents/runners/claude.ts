import { z } from 'zod';
import { lastClaim, parseJsonLine } from './json-line.js';
import { noUsage, type AgentResult, type OutputReader, type Runner } from '../runner.js';
import { endingOfTrouble } from '../trouble.js';

/** Turns of one agent run; a fix that needs more has lost its way. */
const MAX_TURNS = 60;

/**
 * Claude Code without a terminal. It may edit in the project and run what `acceptEdits` allows; background tasks, which would
 * keep the process alive behind its result, are off, and its own retries are few, since ours count.
 */
export const claudeRunner: Runner = {
  expandsCommands: true,
  command: ({ prompt, resume, extraArgs }) => ({
    file: 'claude',
    args: [
      '-p',
      '--output-format',
      'stream-json',
      '--verbose',
      '--permission-mode',
      'acceptEdits',
      '--max-turns',
      String(MAX_TURNS),
      ...(resume ? ['--resume', resume] : []),
      ...extraArgs,
    ],
    env: {
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      CLAUDE_CODE_MAX_RETRIES: process.env['CLAUDE_CODE_MAX_RETRIES'] ?? '2',
    },
    // By standard input: a prompt may begin with a dash, and be longer than an argument can be.
    input: prompt,
  }),
  reader: claudeReader,
};

const contentShape = z.object({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
});
const assistantShape = z.object({
  type: z.literal('assistant'),
  message: z.object({ content: z.array(contentShape) }),
});
const resultShape = z.object({
  type: z.literal('result'),
  subtype: z.string().optional(),
  is_error: z.boolean().optional(),
  api_error_status: z.number().nullish(),
  terminal_reason: z.string().nullish(),
  num_turns: z.number().optional(),
  result: z.string().optional(),
  session_id: z.string().optional(),
  total_cost_usd: z.number().optional(),
  usage: z.object({ input_tokens: z.number().optional(), output_tokens: z.number().optional() }).optional(),
  permission_denials: z.array(z.object({ tool_name: z.string().optional() })).optional(),
  errors: z.array(z.string()).optional(),
});
type ClaudeResult = z.infer<typeof resultShape>;

/** Reads `stream-json`: a line of JSON an event; the `result` event is the end, whatever the process does then. */
export function claudeReader(): OutputReader {
  let result: ClaudeResult | null = null;
  return {
    line: (text) => {
      const event = parseJsonLine(text);
      const ended = resultShape.safeParse(event);
      if (ended.success) result = ended.data;
      return { activity: ended.success ? null : activityOf(event), complete: ended.success };
    },
    result: () => (result ? resultOf(result) : { claim: null, usage: noUsage, denials: [], trouble: null }),
  };
}

function activityOf(event: unknown): string | null {
  const assistant = assistantShape.safeParse(event);
  if (!assistant.success) return null;
  const last = assistant.data.message.content.at(-1);
  if (last?.type === 'tool_use') {
    const { file_path: file, command, pattern } = last.input ?? {};
    const about = [file, command, pattern].find((one) => typeof one === 'string');
    return `${last.name ?? 'tool'} ${typeof about === 'string' ? about : ''}`.trim();
  }
  return last?.text ?? null;
}

function resultOf(result: ClaudeResult): AgentResult {
  return {
    claim: lastClaim(result.result ?? ''),
    usage: {
      costUsd: result.total_cost_usd ?? null,
      inputTokens: result.usage?.input_tokens ?? null,
      outputTokens: result.usage?.output_tokens ?? null,
      turns: result.num_turns ?? null,
      sessionId: result.session_id ?? null,
    },
    denials: (result.permission_denials ?? []).map((one) => one.tool_name ?? 'a tool'),
    trouble: troubleOf(result),
  };
}

/** An API failure has `subtype: "success"` and `is_error: true`; a command that never ran has no turns, and says why in words. */
function troubleOf(result: ClaudeResult): AgentResult['trouble'] {
  const text = (result.result ?? result.errors?.join('; ') ?? result.subtype ?? '').trim();
  const ran = result.num_turns !== 0;
  if (result.is_error !== true && (ran || !/unknown command|not logged in/i.test(text))) return null;
  // A limit on turns or money is how this attempt ended, no trouble of the API.
  if (/^error_(?:max_turns|max_budget|during_execution)/.test(result.subtype ?? ''))
    return { kind: 'exited', exitCode: 1 };
  return endingOfTrouble(
    'claude',
    [result.api_error_status, result.terminal_reason, text].filter(Boolean).join(' '),
  );
}
