import { z } from 'zod';
import { addedArgs, isEdit, type OutputReader, type Runner } from './runner.js';
import { jsonLinesReader, noMeaning, toolActivity } from './json-lines-reader.js';

/** The number of Gemini CLI's own retries to wait for. They take more than two minutes and cannot be configured. */
const MAX_RETRIES = 1;

/**
 * Runs Gemini CLI without a terminal. `auto_edit` lets it edit in the project and gives it no shell. In a folder that is not trusted, it exits
 * with code 55. It could expand a command itself, but only on a single line.
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
      ...addedArgs(runner),
    ],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_CLI_NO_RELAUNCH: 'true' },
    input: prompt,
    passes: ['GEMINI_*', 'GOOGLE_*'],
  }),
  reader: geminiReader,
  // https://github.com/google-gemini/gemini-cli/blob/main/docs/troubleshooting.md
  exitCodes: { 41: 'unauthorized', 42: 'command-line', 52: 'command-line', 55: 'command-line' },
};

const eventShape = z.object({
  type: z.enum(['init', 'message', 'tool_use', 'tool_result', 'error', 'result']),
  session_id: z.string().optional(),
  role: z.string().optional(),
  content: z.string().optional(),
  /** Of an event of type `error`. */
  message: z.string().optional(),
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

const errorLine =
  /^(?:Attempt \d+ failed|Error when talking|Error: |\[API Error|Invalid auth|.*\bplease set an Auth method)/i;

/** Reads `stream-json`. The status of a refused request is only on standard error. */
export function geminiReader(): OutputReader {
  let result: GeminiEvent | null = null;
  let lastError: string | null = null;
  let status = '';
  let retries = 0;
  let calls = 0;
  const tools = new Map<string, string>();
  return jsonLinesReader('gemini', eventShape, {
    onEvent: (event, transcript) => {
      const { type, tool_id: tool = '' } = event;
      if (event.session_id) transcript.usage.sessionId = event.session_id;
      if (type === 'message' && event.role === 'assistant') {
        transcript.messages += event.content ?? '';
        transcript.final += event.content ?? '';
      }
      if (type === 'tool_use') {
        // Text before a tool call is not part of the final answer, so it gets a line of its own.
        transcript.messages += '\n';
        transcript.final = '';
        calls += 1;
        tools.set(tool, event.tool_name ?? 'a tool');
      }
      const name = tools.get(tool) ?? '';
      if (
        type === 'tool_result' &&
        event.status === 'error' &&
        isEdit(name) &&
        refused.test(event.error?.message ?? event.output ?? '')
      )
        transcript.denials.push(name);
      if (type === 'error') lastError = event.message ?? lastError;
      if (type === 'result') {
        result = event;
        const { input_tokens: inputTokens = null, output_tokens: outputTokens = null } = event.stats ?? {};
        Object.assign(transcript.usage, { inputTokens, outputTokens, turns: calls + 1 });
      }
      return { activity: activityOf(event), complete: type === 'result' };
    },
    onOther: (line, _, from) => {
      if (from !== 'stderr') return noMeaning;
      if (/^Attempt \d+ failed/.test(line)) retries += 1;
      if (errorLine.test(line)) lastError = line;
      status = /^\s*status: (\d{3})\b/.exec(line)?.[1] ?? status;
      return { ...noMeaning, hopeless: retries > MAX_RETRIES };
    },
    atEnd: (transcript) => {
      const failure = failureOf(result, lastError);
      transcript.failure = failure === null ? null : `${status && `status ${status}: `}${failure}`;
    },
  });
}

/** Returns the reason of a failed run. Earlier errors do not matter after a successful result. */
function failureOf(result: GeminiEvent | null, lastError: string | null): string | null {
  if (result?.status === 'success') return null;
  return result ? (result.error?.message ?? lastError ?? 'failed') : lastError;
}

function activityOf({ type, role, content, tool_name: tool, parameters }: GeminiEvent): string | null {
  if (type === 'message') return role === 'assistant' ? (content ?? null) : null;
  return type === 'tool_use' ? toolActivity(tool, parameters?.['file_path'], parameters?.['pattern']) : null;
}
