import { z } from 'zod';
import { addedArgs, isEdit, type OutputReader, type Runner } from './runner.js';
import { addMessage, countTurn, jsonLinesReader } from './json-lines-reader.js';

/** Runs Copilot CLI without a terminal. It may write files and asks no questions. self-heal has already expanded the slash command. */
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
      // self-heal runs the project's code, so the project is trusted. A resumed session does not accept the flag.
      resume ? `--resume=${resume}` : '--trust-folder',
      ...addedArgs(runner),
    ],
    env: { COPILOT_AUTO_UPDATE: 'false' },
    input: prompt,
    passes: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST'],
  }),
  reader: copilotReader,
};

/** The number of Copilot's own retries to wait for, since self-heal retries itself. */
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
    onEvent: ({ type, sessionId, exitCode, data }, transcript) => {
      if (sessionId) transcript.usage.sessionId = sessionId;
      if (type === 'assistant.message') {
        addMessage(transcript, data?.content);
        countTurn(transcript, { outputTokens: data?.outputTokens });
      }
      if (data?.toolCallId && data.toolName) tools.set(data.toolCallId, data.toolName);
      const tool = tools.get(data?.toolCallId ?? '') ?? '';
      if (type === 'tool.execution_complete' && data?.success === false && isEdit(tool) && isDenied(data))
        transcript.denials.push(tool);
      const isLast = type === 'model.call_failure' && (data?.retryAttempt ?? 0) >= MAX_RETRIES;
      if (isLast)
        transcript.failure = `${failureOf(data)} ${data?.errorMessage ?? 'connection error'}`.trim();
      if (type === 'session.error') transcript.failure = failureOf(data);
      if (type === 'result' && exitCode === 0) transcript.failure = null;
      return { activity: activityOf(type, data), complete: type === 'result', hopeless: isLast };
    },
  });
}

type Data = z.infer<typeof dataShape>;

function failureOf(data: Data | undefined): string {
  const { errorType, statusCode, message } = data ?? {};
  return [errorType, statusCode && `status ${statusCode}`, message].filter(Boolean).join(': ');
}

function isDenied({ error }: Data): boolean {
  return refused.test(`${error?.code ?? ''} ${error?.message ?? ''}`);
}

function activityOf(type: string, data: Data | undefined): string | null {
  if (type === 'assistant.message') return data?.content ?? null;
  return type === 'tool.execution_start' ? (data?.toolName ?? null) : null;
}
