import { z } from 'zod';
import { addedArgs, isEdit, type OutputReader, type Runner } from './runner.js';
import { countTurn, jsonLinesReader } from './json-lines-reader.js';

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
      ...addedArgs(runner),
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

const refused = /denied|permission|not allowed/i;

/** Reads the JSON lines of `--output-format json`; the `result` line is the last one. */
export function copilotReader(): OutputReader {
  const tools = new Map<string, string>();
  return jsonLinesReader('copilot', eventShape, {
    onEvent: ({ type, sessionId, exitCode, data }, heard) => {
      if (sessionId) heard.usage.sessionId = sessionId;
      if (type === 'assistant.message') {
        heard.said += `${data?.content ?? ''}\n`;
        countTurn(heard, { outputTokens: data?.outputTokens });
      }
      if (data?.toolCallId && data.toolName) tools.set(data.toolCallId, data.toolName);
      const tool = tools.get(data?.toolCallId ?? '') ?? '';
      if (type === 'tool.execution_complete' && data?.success === false && isEdit(tool) && wasRefused(data))
        heard.denials.push(tool);
      const isLast = type === 'model.call_failure' && (data?.retryAttempt ?? 0) >= MAX_RETRIES;
      if (isLast) heard.failure = `${failureOf(data)} ${data?.errorMessage ?? 'connection error'}`.trim();
      if (type === 'session.error') heard.failure = failureOf(data);
      if (type === 'result' && exitCode === 0) heard.failure = null;
      return { activity: activityOf(type, data), complete: type === 'result', hopeless: isLast };
    },
  });
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
