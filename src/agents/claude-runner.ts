import { z } from 'zod';
import { jsonOf } from '../json-of.js';
import { claudeFlagsFor } from './claude-project.js';
import { answersIn } from './claim.js';
import { addedArgs, isEdit, noUsage, type AgentResult, type OutputReader, type Runner } from './runner.js';
import { agentErrorFrom, agentErrorInText } from './agent-error.js';

/** The maximum number of turns of one agent run; a fix that needs more has gone astray. */
const MAX_TURNS = 60;

/**
 * Runs Claude Code without a terminal. It may edit in the project and run what `acceptEdits` allows. Background tasks, which would keep the
 * process alive after its result, are turned off, and its own retries are limited, since self-heal retries itself.
 */
export const claudeRunner: Runner = {
  command: ({ prompt, promptFile, resume, runner, cwd, copyOf }) => ({
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
      ...(copyOf === undefined ? [] : claudeFlagsFor({ cwd, ...copyOf }, process.env)),
      ...addedArgs(runner),
    ],
    env: {
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      CLAUDE_CODE_MAX_RETRIES: process.env['CLAUDE_CODE_MAX_RETRIES'] ?? '2',
    },
    // Claude Code shows the text after a command twice, as its arguments and where the command's file names them, so that it is short.
    input: `${prompt.split('\n', 1)[0]} First read all of ${promptFile}: what failed, what is known about it, and the rules.`,
    passes: ['ANTHROPIC_*', 'CLAUDE_*', 'API_TIMEOUT_MS', 'DISABLE_*', ...cloudKeys()],
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

/** Reads `stream-json`: one JSON event per line. The `result` event is the end, whatever the process does afterwards. */
export function claudeReader(): OutputReader {
  let result: ClaudeResult | null = null;
  return {
    line: (text) => {
      const event = jsonOf(text);
      const ended = resultShape.safeParse(event);
      if (ended.success) result = ended.data;
      return { activity: ended.success ? null : activityOf(event), complete: ended.success };
    },
    result: () => (result ? resultOf(result) : { claim: null, usage: noUsage, denials: [], error: null }),
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
    ...answersIn(result.result ?? ''),
    usage: {
      costUsd: result.total_cost_usd ?? null,
      inputTokens: result.usage?.input_tokens ?? null,
      outputTokens: result.usage?.output_tokens ?? null,
      turns: result.num_turns ?? null,
      sessionId: result.session_id ?? null,
    },
    denials: (result.permission_denials ?? []).map((one) => one.tool_name ?? '').filter(isEdit),
    error: errorOf(result),
  };
}

/** The cloud provider's own keys, only if Claude Code is configured to reach its model through that provider. */
function cloudKeys(): string[] {
  return [
    ...(process.env['CLAUDE_CODE_USE_BEDROCK'] ? ['AWS_*'] : []),
    ...(process.env['CLAUDE_CODE_USE_VERTEX'] ? ['GOOGLE_*', 'CLOUD_ML_REGION', 'VERTEX_*'] : []),
  ];
}

/**
 * Returns the error in a result, or null. An API failure has `subtype: "success"` and `is_error: true`. A command that never ran has no turns,
 * and older versions of Claude Code say so only in the result text.
 */
function errorOf(result: ClaudeResult): AgentResult['error'] {
  const { subtype = '', api_error_status: status, terminal_reason: reason } = result;
  const text = (result.result ?? result.errors?.join('; ') ?? subtype).trim();
  if (subtype.startsWith('error_max_')) return { kind: 'limited', reason: `claude: ${text.slice(0, 300)}` };
  if (result.num_turns === 0 && /unknown command/i.test(text)) {
    const remedy = 'Create the slash command in .claude/commands/.';
    return { kind: 'unusable', reason: `claude: ${text.slice(0, 300)}`, remedy };
  }
  if (result.is_error !== true) return null;
  const isOfApi = typeof status === 'number' || reason === 'api_error' || reason === 'prompt_too_long';
  const told = [reason === 'prompt_too_long' && reason, status && `status ${status}`, text]
    .filter(Boolean)
    .join(': ');
  if (isOfApi) return agentErrorFrom(told, 'claude');
  // An error that no rule knows and that did not come from the API is a crash of the program (AG-5).
  return agentErrorInText(told, 'claude') ?? { kind: 'exited', exitCode: 1 };
}
