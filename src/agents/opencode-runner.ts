import { environment } from '../environment.js';
import { z } from 'zod';
import { jsonOf } from '../json-of.js';
import { stripAnsi } from '../visible-text.js';
import { splitCommand } from './expand-command.js';
import { addedArgs, isEdit, type OutputReader, type Runner } from './runner.js';
import {
  addMessage,
  countTurn,
  jsonLinesReader,
  noMeaning,
  toolActivity,
  type Transcript,
} from './json-lines-reader.js';

/** By default, opencode allows everything. This allows only edits in the project. */
const permission = { edit: 'allow', bash: 'deny', webfetch: 'deny', external_directory: 'deny' };
/** With automatic compaction, a request that is too long would be compacted and sent again endlessly. */
const compaction = { auto: false };

/**
 * The number of opencode's own retries to wait for. It retries for a minute and a half, which cannot be configured, and only its log on standard
 * error shows it.
 */
const MAX_RETRIES = 2;

/** Runs opencode without a terminal. The slash command is passed as `--command`, its arguments on standard input. */
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
        OPENCODE_CONFIG_CONTENT: configWith(environment()['OPENCODE_CONFIG_CONTENT']),
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

/** Returns the user's configuration from the environment, with self-heal's permissions unless it sets its own. */
function configWith(userConfig = '{}'): string {
  const config = jsonOf(userConfig);
  return config === undefined ? userConfig : JSON.stringify({ permission, compaction, ...Object(config) });
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

/** Reads `--format json`. There is no final event: the work is complete when a step finishes with reason `stop`. */
export function opencodeReader(): OutputReader {
  let stopped = false;
  let retries = 0;
  return jsonLinesReader('opencode', eventShape, {
    onEvent: (event, transcript) => {
      const { type, part } = event;
      if (event.sessionID) transcript.usage.sessionId = event.sessionID;
      if (type === 'text' && !part?.synthetic) addMessage(transcript, part?.text);
      if (type === 'tool_use' && part && isEdit(toolName(part)) && isDenied(part))
        transcript.denials.push(toolName(part));
      if (type === 'step_finish')
        countTurn(transcript, {
          costUsd: part?.cost,
          inputTokens: part?.tokens?.input,
          outputTokens: part?.tokens?.output,
        });
      if (type === 'step_finish' && part?.reason === 'stop') {
        stopped = true;
        // The error was overcome, unless the step was only opencode's own attempt to shorten the context.
        if (!isOverflow(transcript.failure)) transcript.failure = null;
      }
      if (type === 'error') transcript.failure ??= failureOf(event);
      return {
        activity: activityOf(event),
        complete: stopped && type === 'step_finish',
        hopeless: event.error?.name === 'ContextOverflowError',
      };
    },
    onOther: (line, transcript, from) => {
      if (from !== 'stderr') return noMeaning;
      const text = stripAnsi(line);
      // Standard output calls it only a server error.
      const [, error] = /message=failed\b.*?\berror="((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
      if (error !== undefined) transcript.failure ??= error;
      if (text.startsWith('Error: ')) transcript.failure ??= text;
      const streamError = /message="stream error".*\berror\.error="(.*)"/.exec(text);
      if (!streamError) return noMeaning;
      retries += 1;
      // opencode retries only errors that may be temporary, even if their wording does not show it.
      if (retries > MAX_RETRIES)
        transcript.failure ??= `Provider is overloaded or out of reach: ${streamError[1]}`;
      return { ...noMeaning, hopeless: retries > MAX_RETRIES };
    },
  });
}

function isOverflow(failure: Transcript['failure']): boolean {
  return typeof failure === 'string' && failure.startsWith('ContextOverflow');
}

function failureOf({ error }: OpencodeEvent): string {
  const { message = '', statusCode } = error?.data ?? {};
  return [error?.name, statusCode && `status ${statusCode}`, message].filter(Boolean).join(': ');
}

type Part = NonNullable<OpencodeEvent['part']>;

function isDenied({ tool, state }: Part): boolean {
  if (tool === 'invalid') return refused.test(JSON.stringify(state?.input?.['error'] ?? ''));
  return state?.status === 'error' && refused.test(state.error ?? '');
}

function toolName({ tool, state }: Part): string {
  const name = tool === 'invalid' ? state?.input?.['tool'] : tool;
  return typeof name === 'string' ? name : 'a tool';
}

function activityOf({ type, part }: OpencodeEvent): string | null {
  if (type === 'text') return part?.text ?? null;
  return type === 'tool_use' ? toolActivity(part?.tool, part?.state?.input?.['filePath']) : null;
}
