import { z } from 'zod';
import { stripAnsi } from '../visible-text.js';
import { splitCommand } from './expand-command.js';
import { addedArgs, isEdit, type OutputReader, type Runner } from './runner.js';
import { countTurn, jsonLinesReader, nothing } from './json-lines-reader.js';

/** opencode allows everything unless told otherwise; this allows edits in the project and nothing else. */
const permission = { edit: 'allow', bash: 'deny', webfetch: 'deny', external_directory: 'deny' };
/** With automatic compaction, a request that is too long would be compacted and sent again endlessly. */
const compaction = { auto: false };

/**
 * How many of opencode's own retries to wait for. It retries silently for a minute and a half, which cannot be configured; its log on standard
 * error shows the retries.
 */
const MAX_RETRIES = 2;

/** Runs opencode without a terminal. The slash command is passed as `--command`, and standard input holds its arguments. */
export const opencodeRunner: Runner = {
  command: ({ prompt, resume, runner }) => {
    const { command, rest } = splitCommand(prompt);
    return {
      file: 'opencode',
      args: [
        'run',
        '--format',
        'json',
        '--print-logs',
        '--log-level',
        'ERROR',
        '--command',
        command.replace(/^\//, '').split(':').join('/'),
        ...(resume ? ['-s', resume] : []),
        ...addedArgs(runner),
      ],
      env: {
        OPENCODE_CONFIG_CONTENT: configWith(process.env['OPENCODE_CONFIG_CONTENT']),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
      },
      input: rest,
      passes: ['OPENCODE_*', ...providerKeys],
    };
  },
  reader: opencodeReader,
};

/** The providers' variables from which opencode takes its keys. */
const providerKeys = [
  'ANTHROPIC_* OPENAI_* GEMINI_* GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY MISTRAL_API_KEY',
  'XAI_API_KEY DEEPSEEK_API_KEY GITHUB_TOKEN AZURE_*',
].flatMap((line) => line.split(' '));

/** Returns the user's configuration from the environment, with our permissions unless it sets its own. */
function configWith(given: string | undefined): string {
  try {
    const own = JSON.parse(given ?? '{}') as Record<string, unknown>;
    return JSON.stringify({ permission, compaction, ...own });
  } catch {
    return given ?? '{}';
  }
}

const eventShape = z.object({
  type: z.enum(['step_start', 'text', 'tool_use', 'step_finish', 'error', 'reasoning']),
  sessionID: z.string().optional(),
  error: z
    .object({
      name: z.string().optional(),
      data: z.object({ message: z.string().optional(), statusCode: z.number().optional() }).optional(),
    })
    .optional(),
  part: z
    .object({
      text: z.string().optional(),
      synthetic: z.boolean().optional(),
      tool: z.string().optional(),
      reason: z.string().optional(),
      cost: z.number().optional(),
      tokens: z.object({ input: z.number().optional(), output: z.number().optional() }).optional(),
      state: z
        .object({
          status: z.string().optional(),
          error: z.string().optional(),
          input: z.record(z.string(), z.unknown()).optional(),
        })
        .optional(),
    })
    .optional(),
});
type OpencodeEvent = z.infer<typeof eventShape>;

const refused = /rule which prevents you|rejected permission|unavailable tool/i;

/** Reads `--format json`. There is no final line: the work is done when a step finishes with reason `stop`. */
export function opencodeReader(): OutputReader {
  let stopped = false;
  let retries = 0;
  return jsonLinesReader('opencode', eventShape, {
    onEvent: (event, heard) => {
      const { type, part } = event;
      if (event.sessionID) heard.usage.sessionId = event.sessionID;
      if (type === 'text' && !part?.synthetic) heard.said += `${part?.text ?? ''}\n`;
      if (type === 'tool_use' && part && isEdit(deniedTool(part)) && wasDenied(part))
        heard.denials.push(deniedTool(part));
      if (type === 'step_finish')
        countTurn(heard, {
          costUsd: part?.cost,
          inputTokens: part?.tokens?.input,
          outputTokens: part?.tokens?.output,
        });
      if (type === 'step_finish' && part?.reason === 'stop') {
        stopped = true;
        // The error was overcome, unless the step that finished was only opencode's own attempt to make room.
        if (!heard.failure?.startsWith('ContextOverflow')) heard.failure = null;
      }
      if (type === 'error') heard.failure ??= failureOf(event);
      return {
        activity: activityOf(event),
        complete: stopped && type === 'step_finish',
        hopeless: event.error?.name === 'ContextOverflowError',
      };
    },
    onOther: (line, heard, from) => {
      if (from !== 'stderr') return nothing;
      const text = stripAnsi(line);
      // What it only calls a server error on standard output.
      const failed = /message=failed\b.*?\berror="((?:[^"\\]|\\.)*)"/.exec(text);
      if (failed) heard.failure ??= failed[1] ?? null;
      if (text.startsWith('Error: ')) heard.failure ??= text;
      const streamError = /message="stream error".*\berror\.error="(.*)"/.exec(text);
      if (!streamError) return nothing;
      retries += 1;
      // opencode retries only errors that may be temporary, even if the wording does not show it.
      if (retries > MAX_RETRIES)
        heard.failure ??= `Provider is overloaded or out of reach: ${streamError[1]}`;
      return { ...nothing, hopeless: retries > MAX_RETRIES };
    },
  });
}

function failureOf({ error }: OpencodeEvent): string {
  const { message = '', statusCode } = error?.data ?? {};
  return [error?.name, statusCode && `status ${statusCode}`, message].filter(Boolean).join(': ');
}

type Part = NonNullable<OpencodeEvent['part']>;

function wasDenied({ tool, state }: Part): boolean {
  if (tool === 'invalid') return refused.test(JSON.stringify(state?.input?.['error'] ?? ''));
  return state?.status === 'error' && refused.test(state.error ?? '');
}

function deniedTool({ tool, state }: Part): string {
  const named = tool === 'invalid' ? state?.input?.['tool'] : tool;
  return typeof named === 'string' ? named : 'a tool';
}

function activityOf({ type, part }: OpencodeEvent): string | null {
  if (type === 'text') return part?.text ?? null;
  if (type !== 'tool_use') return null;
  const about = part?.state?.input?.['filePath'];
  return `${part?.tool ?? 'tool'} ${typeof about === 'string' ? about : ''}`.trim();
}
