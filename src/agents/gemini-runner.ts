import { z } from 'zod';
import type { AgentUsage } from '../core/attempt.js';
import { claimIn, readEvent } from './read-event.js';
import { noUsage, type AgentResult, type LineMeaning, type OutputReader, type Runner } from './runner.js';
import { agentErrorFrom } from './agent-error.js';

/** How many of Gemini CLI's own retries to wait for; they go on for more than two minutes and cannot be configured. */
const MAX_RETRIES = 1;

/**
 * Runs Gemini CLI without a terminal. `auto_edit` lets it edit in the project and gives it no shell. The folder is marked as trusted, because
 * otherwise it exits with code 55. It could expand a command itself, but only on a single line.
 */
export const geminiRunner: Runner = {
  command: ({ prompt, resume, runner }) => ({
    file: 'gemini',
    args: [
      '--approval-mode',
      'auto_edit',
      '-o',
      'stream-json',
      ...(resume ? ['--resume', resume] : []),
      ...(runner.kind === 'command' ? [] : (runner.args ?? [])),
    ],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_CLI_NO_RELAUNCH: 'true' },
    input: prompt,
    passes: ['GEMINI_*', 'GOOGLE_*'],
  }),
  reader: geminiReader,
};

const eventShape = z.object({
  type: z.enum(['init', 'message', 'tool_use', 'tool_result', 'error', 'result']),
  session_id: z.string().optional(),
  role: z.string().optional(),
  content: z.string().optional(),
  tool_name: z.string().optional(),
  tool_id: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  status: z.string().optional(),
  output: z.string().nullish(),
  error: z.object({ message: z.string().optional() }).nullish(),
  stats: z
    .object({
      input_tokens: z.number().optional(),
      output_tokens: z.number().optional(),
    })
    .nullish(),
});
type GeminiEvent = z.infer<typeof eventShape>;

const refused =
  /not in workspace|outside the allowed|denied by policy|not (?:found|available|allowed)|permission/i;

/** Reads `stream-json`; the status of a refused request is only on standard error. */
export function geminiReader(): OutputReader {
  let usage: AgentUsage = noUsage;
  let said = '';
  let ended: GeminiEvent | null = null;
  let lastError: string | null = null;
  let status = '';
  let retries = 0;
  let calls = 0;
  const denials: string[] = [];
  const tools = new Map<string, string>();
  const onEvent = (event: GeminiEvent): LineMeaning => {
    if (event.session_id) usage = { ...usage, sessionId: event.session_id };
    if (event.type === 'message' && event.role === 'assistant') said += event.content ?? '';
    if (event.type === 'tool_use') {
      // Text before a tool call is not part of the final answer, so it is kept on a line of its own.
      said += '\n';
      calls += 1;
      tools.set(event.tool_id ?? '', event.tool_name ?? 'a tool');
    }
    if (event.type === 'tool_result' && event.status === 'error' && refused.test(messageOf(event)))
      denials.push(tools.get(event.tool_id ?? '') ?? 'a tool');
    if (event.type === 'result') ended = event;
    return { activity: activityOf(event), complete: event.type === 'result' };
  };
  const onErrorLine = (text: string): LineMeaning => {
    if (/^Attempt \d+ failed/.test(text)) retries += 1;
    if (
      /^(?:Attempt \d+ failed|Error when talking|Error: |\[API Error|Invalid auth|.*\bplease set an Auth method)/i.test(
        text,
      )
    )
      lastError = text;
    status = /^\s*status: (\d{3})\b/.exec(text)?.[1] ?? status;
    return { activity: null, complete: false, hopeless: retries > MAX_RETRIES };
  };
  return {
    line: (text, from) => {
      const event = readEvent(eventShape, text);
      if (event) return onEvent(event);
      return from === 'stderr' ? onErrorLine(text) : { activity: null, complete: false };
    },
    result: (): AgentResult => {
      const failure = failureOf(ended, lastError);
      return {
        claim: claimIn(said),
        usage: withStats(usage, { ended, calls }),
        denials,
        error:
          failure === null ? null : agentErrorFrom(`${status && `status ${status}: `}${failure}`, 'gemini'),
      };
    },
  };
}

/** Returns why a run failed. A run that ended successfully did not fail, whatever went wrong on the way; one without a result did. */
function failureOf(ended: GeminiEvent | null, lastError: string | null): string | null {
  if (ended?.status === 'success') return null;
  return ended ? (ended.error?.message ?? lastError ?? 'failed') : lastError;
}

function withStats(
  usage: AgentUsage,
  { ended, calls }: { ended: GeminiEvent | null; calls: number },
): AgentUsage {
  if (!ended) return usage;
  const { stats } = ended;
  return {
    ...usage,
    inputTokens: stats?.input_tokens ?? null,
    outputTokens: stats?.output_tokens ?? null,
    turns: calls + 1,
  };
}

function messageOf({ error, output }: GeminiEvent): string {
  return error?.message ?? output ?? '';
}

function activityOf({ type, role, content, tool_name: tool, parameters }: GeminiEvent): string | null {
  if (type === 'message') return role === 'assistant' ? (content ?? null) : null;
  if (type !== 'tool_use') return null;
  const about = [parameters?.['file_path'], parameters?.['pattern']].find((one) => typeof one === 'string');
  return `${tool ?? 'tool'} ${typeof about === 'string' ? about : ''}`.trim();
}
