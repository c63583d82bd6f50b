import { environment } from '../environment.js';
import { z } from 'zod';
import { claudeFlagsFor } from './claude-project.js';
import { addedArgs, commandLine, type AgentResult, type OutputReader, type Runner } from './runner.js';
import { agentErrorFrom, agentErrorInText } from './agent-error.js';
import { addMessage, jsonLinesReader, toolActivity } from './json-lines-reader.js';

/** The maximum number of turns of one agent run. */
const MAX_TURNS = 60;

/**
 * Runs Claude Code without a terminal. It may edit in the project and run the commands that `acceptEdits` allows. Background tasks, which would
 * keep the process alive after its result, are turned off. Its own retries are limited, since self-heal retries itself.
 */
export const claudeRunner: Runner = {
  command: (task) => ({
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
      ...(task.resume ? ['--resume', task.resume] : []),
      ...(task.copyOf ? claudeFlagsFor({ cwd: task.cwd, ...task.copyOf }, environment()) : []),
      ...addedArgs(task.runner),
    ],
    env: {
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      CLAUDE_CODE_MAX_RETRIES: environment()['CLAUDE_CODE_MAX_RETRIES'] ?? '2',
    },
    input: commandLine(task),
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

/** Reads `stream-json`. The `result` event is the end, whatever the process does afterwards. */
export function claudeReader(): OutputReader {
  return jsonLinesReader('claude', z.discriminatedUnion('type', [assistantShape, resultShape]), {
    onEvent: (event, transcript) => {
      if (event.type === 'assistant') return { activity: activityOf(event), complete: false };
      addMessage(transcript, event.result);
      transcript.failure = errorOf(event);
      transcript.denials.push(
        ...(event.permission_denials ?? [])
          .map(({ tool_name: tool = '' }) => tool)
          .filter((tool) => /^(?:Edit|MultiEdit|NotebookEdit|Write)$/.test(tool)),
      );
      Object.assign(transcript.usage, {
        costUsd: event.total_cost_usd ?? null,
        inputTokens: event.usage?.input_tokens ?? null,
        outputTokens: event.usage?.output_tokens ?? null,
        turns: event.num_turns ?? null,
        sessionId: event.session_id ?? null,
      });
      return { activity: null, complete: true };
    },
  });
}

function activityOf({ message }: z.infer<typeof assistantShape>): string | null {
  const last = message.content.at(-1);
  if (last?.type !== 'tool_use') return last?.text ?? null;
  const { file_path: file, command, pattern } = last.input ?? {};
  return toolActivity(last.name, file, command, pattern);
}

/** Returns the variables of a cloud provider if Claude Code is configured to use that provider. */
function cloudKeys(): string[] {
  return [
    ...(environment()['CLAUDE_CODE_USE_BEDROCK'] ? ['AWS_*'] : []),
    ...(environment()['CLAUDE_CODE_USE_VERTEX'] ? ['GOOGLE_*', 'CLOUD_ML_REGION', 'VERTEX_*'] : []),
  ];
}

/**
 * Returns the error in a result, or null. An API failure has `subtype: "success"` and `is_error: true`. A command that never ran has no turns;
 * older versions of Claude Code mention it only in the result text.
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
  const message = [reason === 'prompt_too_long' && reason, status && `status ${status}`, text]
    .filter(Boolean)
    .join(': ');
  if (isOfApi) return agentErrorFrom(message, 'claude');
  // An unknown error that did not come from the API is a crash of the program (AG-5).
  return agentErrorInText(message, 'claude') ?? { kind: 'exited', exitCode: 1 };
}
