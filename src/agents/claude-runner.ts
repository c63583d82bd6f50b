import { environment } from '../environment.js';
import { z } from 'zod';
import { createClaudeFlags } from './claude-project.js';
import {
  type AgentListener,
  type AgentResult,
  createShortPrompt,
  readAddedArgs,
  type Runner,
} from './runner.js';
import { describeProgram } from './programs.js';
import { createAgentError, findAgentError } from './agent-error.js';
import { addMessage, readJsonLines } from './json-lines-reader.js';

/** The maximum number of turns of one agent run. */
const MAX_TURNS = 60;

const program = describeProgram('claude');

/**
 * Runs Claude Code without a terminal. It may edit in the project and run the commands that `acceptEdits` allows. Limits its own retries, because
 * self-heal retries, too.
 */
export const claudeRunner: Runner = {
  createCommand: (task) => ({
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
      ...(task.copyOf ? createClaudeFlags({ cwd: task.cwd, ...task.copyOf }, environment()) : []),
      ...readAddedArgs(task.runner),
    ],
    env: {
      ...program.env,
      CLAUDE_CODE_MAX_RETRIES: environment()['CLAUDE_CODE_MAX_RETRIES'] ?? '2',
    },
    input: createShortPrompt(task),
    passedVariables: [...program.passedVariables, ...listCloudKeys()],
  }),
  openConversation: (_task, listener) => readClaudeEvents(listener),
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

/** Reads `stream-json`. The `result` event is the end, even if the process continues. */
function readClaudeEvents(listener: AgentListener) {
  return readJsonLines('claude', z.discriminatedUnion('type', [assistantShape, resultShape]), {
    onEvent: (event, transcript) => {
      if (event.type === 'assistant') {
        const activity = describeActivity(event);
        return activity === null ? undefined : listener.show(activity);
      }
      addMessage(transcript, event.result);
      transcript.failure = findError(event);
      const denied = (event.permission_denials ?? []).map(({ tool_name: tool = '' }) => tool);
      const editTool = /^(?:Edit|MultiEdit|NotebookEdit|Write)$/;
      transcript.denials.push(...denied.filter((tool) => editTool.test(tool)));
      transcript.usage = {
        costUsd: event.total_cost_usd ?? null,
        inputTokens: event.usage?.input_tokens ?? null,
        outputTokens: event.usage?.output_tokens ?? null,
        turns: event.num_turns ?? null,
        sessionId: event.session_id ?? null,
      };
      listener.finish();
    },
  });
}

function describeActivity({ message }: z.infer<typeof assistantShape>): string | null {
  const last = message.content.at(-1);
  if (last?.type !== 'tool_use') return last?.text ?? null;
  const { file_path: file, command, pattern } = last.input ?? {};
  const input = [file, command, pattern].find((value) => typeof value === 'string') ?? '';
  return `${last.name ?? 'tool'} ${input}`.trim();
}

/** Returns the variables of a cloud provider if Claude Code is configured to use that provider. */
function listCloudKeys(): string[] {
  return [
    ...(environment()['CLAUDE_CODE_USE_BEDROCK'] ? ['AWS_*'] : []),
    ...(environment()['CLAUDE_CODE_USE_VERTEX'] ? ['GOOGLE_*', 'CLOUD_ML_REGION', 'VERTEX_*'] : []),
  ];
}

/**
 * Returns the error in a result, or null. An API failure has `subtype: "success"` and `is_error: true`. A command that never ran has no turns;
 * older versions of Claude Code mention it only in the result text.
 */
function findError(result: ClaudeResult): AgentResult['error'] {
  const { subtype = '', api_error_status: status, terminal_reason: reason } = result;
  const text = (result.result ?? result.errors?.join('; ') ?? subtype).trim();
  if (subtype.startsWith('error_max_')) return { kind: 'limited', reason: `claude: ${text.slice(0, 300)}` };
  if (result.num_turns === 0 && /unknown command/i.test(text)) {
    const remedy = 'Create the slash command in .claude/commands/.';
    return { kind: 'unusable', reason: `claude: ${text.slice(0, 300)}`, remedy };
  }
  if (result.is_error !== true) return null;
  const isApiError = typeof status === 'number' || reason === 'api_error' || reason === 'prompt_too_long';
  const message = [reason === 'prompt_too_long' && reason, status && `status ${status}`, text]
    .filter(Boolean)
    .join(': ');
  if (isApiError) return createAgentError(message, 'claude');
  // An unknown error that did not come from the API is a crash of the program (AG-5).
  return findAgentError(message, 'claude') ?? { kind: 'exited', exitCode: 1 };
}
