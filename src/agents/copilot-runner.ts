import { z } from 'zod';
import type { AgentUsage } from '../core/attempt.js';
import { claimIn, plus, readEvent } from './read-event.js';
import { noUsage, type AgentResult, type LineMeaning, type OutputReader, type Runner } from './runner.js';
import { agentErrorFrom } from './agent-error.js';

/** Runs Copilot CLI without a terminal: it may write files and asks no questions; self-heal has already expanded the slash command. */
export const copilotRunner: Runner = {
  command: ({ prompt, resume, screenshot, runner }) => ({
    file: 'copilot',
    args: [
      '--allow-tool=write',
      // Without this, the system's temporary folder counts as part of the project.
      '--disallow-temp-dir',
      '--no-ask-user',
      '--output-format',
      'json',
      ...(screenshot === null ? [] : ['--attachment', screenshot]),
      // A project whose tests self-heal runs is trusted, including its hooks and MCP servers; a resumed session does not accept the flag.
      resume ? `--resume=${resume}` : '--trust-folder',
      ...(runner.kind === 'command' ? [] : (runner.args ?? [])),
    ],
    env: { COPILOT_AUTO_UPDATE: 'false' },
    input: prompt,
    passes: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST'],
  }),
  reader: copilotReader,
};

/** How many of Copilot's own retries to wait for, since self-heal retries itself. */
const MAX_RETRIES = 2;

const dataShape = z.object({
  content: z.string().optional(),
  message: z.string().optional(),
  errorType: z.string().optional(),
  statusCode: z.number().nullish(),
  toolName: z.string().optional(),
  toolCallId: z.string().optional(),
  success: z.boolean().optional(),
  retryAttempt: z.number().optional(),
  errorMessage: z.string().nullish(),
  outputTokens: z.number().optional(),
  inputTokens: z.number().optional(),
  error: z.object({ code: z.string().optional(), message: z.string().optional() }).nullish(),
});
const eventShape = z.object({
  type: z.string(),
  sessionId: z.string().optional(),
  exitCode: z.number().optional(),
  data: dataShape.optional(),
});
type CopilotEvent = z.infer<typeof eventShape>;

const refused = /denied|permission|not allowed/i;

/** Reads the JSON lines of `--output-format json`; the `result` line is the last one. */
export function copilotReader(): OutputReader {
  let usage: AgentUsage = noUsage;
  let said = '';
  let failure: string | null = null;
  const denials: string[] = [];
  const tools = new Map<string, string>();
  const onEvent = ({ type, sessionId, exitCode, data }: CopilotEvent): LineMeaning => {
    if (sessionId) usage = { ...usage, sessionId };
    if (type === 'assistant.message') {
      said += `${data?.content ?? ''}\n`;
      usage = {
        ...usage,
        outputTokens: plus(usage.outputTokens, data?.outputTokens),
        turns: (usage.turns ?? 0) + 1,
      };
    }
    if (data?.toolCallId && data.toolName) tools.set(data.toolCallId, data.toolName);
    if (type === 'tool.execution_complete' && data?.success === false && wasRefused(data))
      denials.push(tools.get(data.toolCallId ?? '') ?? 'a tool');
    const isLast = type === 'model.call_failure' && (data?.retryAttempt ?? 0) >= MAX_RETRIES;
    if (isLast) failure = `${failureOf(data)} ${data?.errorMessage ?? 'connection error'}`.trim();
    if (type === 'session.error') failure = failureOf(data);
    if (type === 'result' && exitCode === 0) failure = null;
    return { activity: activityOf(type, data), complete: type === 'result', hopeless: isLast };
  };
  return {
    line: (text) => {
      const event = readEvent(eventShape, text);
      return event ? onEvent(event) : { activity: null, complete: false };
    },
    result: (): AgentResult => ({
      claim: claimIn(said),
      usage,
      denials,
      error: failure === null ? null : agentErrorFrom(failure, 'copilot'),
    }),
  };
}

type Data = z.infer<typeof dataShape>;

function failureOf(data: Data | undefined): string {
  const { errorType, statusCode, message } = data ?? {};
  return [errorType, statusCode && `status ${statusCode}`, message].filter(Boolean).join(': ');
}

function wasRefused({ error }: Data): boolean {
  return refused.test(`${error?.code ?? ''} ${error?.message ?? ''}`);
}

function activityOf(type: string, data: Data | undefined): string | null {
  if (type === 'assistant.message') return data?.content ?? null;
  return type === 'tool.execution_start' ? (data?.toolName ?? null) : null;
}
