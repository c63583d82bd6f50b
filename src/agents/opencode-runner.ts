import { z } from 'zod';
import type { AgentUsage } from '../core/attempt.js';
import { stripAnsi } from '../core/classify/strip-ansi.js';
import { splitCommand } from './expand-command.js';
import { claimIn, plus, readEvent } from './read-event.js';
import { noUsage, type AgentResult, type LineMeaning, type OutputReader, type Runner } from './runner.js';
import { agentErrorFrom } from './agent-error.js';

/** opencode allows everything unless it is told otherwise: edits in the project, and nothing more. */
const permission = { edit: 'allow', bash: 'deny', webfetch: 'deny', external_directory: 'deny' };
/** With it, a request that is too long is compacted and sent again without end. */
const compaction = { auto: false };

/**
 * Of opencode's own retries, which it makes in silence for a minute and a half and which cannot be set, so many are waited
 * for; its log on standard error shows them.
 */
const MAX_RETRIES = 2;

/** opencode without a terminal. A slash command is its `--command`; what standard input holds are the arguments. */
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
        ...(runner.kind === 'command' ? [] : (runner.args ?? [])),
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

/** opencode takes its keys from the variables of the providers. */
const providerKeys = [
  'ANTHROPIC_* OPENAI_* GEMINI_* GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY MISTRAL_API_KEY',
  'XAI_API_KEY DEEPSEEK_API_KEY GITHUB_TOKEN AZURE_*',
].flatMap((line) => line.split(' '));

/** The configuration that the user gave by the environment, with our permissions where it names none. */
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

/** Reads `--format json`. There is no last line: the work is done with a step that finished with reason `stop`. */
export function opencodeReader(): OutputReader {
  let usage: AgentUsage = noUsage;
  let said = '';
  let failure: string | null = null;
  let stopped = false;
  let retries = 0;
  const denials: string[] = [];
  const onEvent = (event: OpencodeEvent): LineMeaning => {
    const { type, part } = event;
    if (event.sessionID) usage = { ...usage, sessionId: event.sessionID };
    if (type === 'text' && !part?.synthetic) said += `${part?.text ?? ''}\n`;
    if (type === 'tool_use' && part && wasDenied(part)) denials.push(deniedTool(part));
    if (type === 'step_finish') usage = added(usage, part);
    if (type === 'step_finish' && part?.reason === 'stop') {
      stopped = true;
      // It got over it, unless what it finished was only its own attempt to make room.
      if (!failure?.startsWith('ContextOverflow')) failure = null;
    }
    if (type === 'error') failure ??= failureOf(event);
    return {
      activity: activityOf(event),
      complete: stopped && type === 'step_finish',
      hopeless: event.error?.name === 'ContextOverflowError',
    };
  };
  const onErrorLine = (coloured: string): LineMeaning => {
    const text = stripAnsi(coloured);
    const asked = /permission requested: ([\w.-]+)/.exec(text);
    if (asked) denials.push(asked[1] ?? 'a tool');
    if (text.startsWith('Error: ')) failure ??= text;
    const streamError = /message="stream error".*\berror\.error="(.*)"/.exec(text);
    if (!streamError) return { activity: null, complete: false };
    retries += 1;
    // It only retries what may pass; the words alone need not say so.
    if (retries > MAX_RETRIES) failure ??= `Provider is overloaded or out of reach: ${streamError[1]}`;
    return { activity: null, complete: false, hopeless: retries > MAX_RETRIES };
  };
  return {
    line: (text, from) => {
      const event = readEvent(eventShape, text);
      if (event) return onEvent(event);
      return from === 'stderr' ? onErrorLine(text) : { activity: null, complete: false };
    },
    result: (): AgentResult => ({
      claim: claimIn(said),
      usage,
      denials,
      error: failure === null ? null : agentErrorFrom(failure, 'opencode'),
    }),
  };
}

function failureOf({ error }: OpencodeEvent): string {
  const { message = '', statusCode } = error?.data ?? {};
  return [error?.name, statusCode && `status ${statusCode}`, message].filter(Boolean).join(': ');
}

function added(usage: AgentUsage, part: OpencodeEvent['part']): AgentUsage {
  return {
    ...usage,
    costUsd: plus(usage.costUsd, part?.cost),
    inputTokens: plus(usage.inputTokens, part?.tokens?.input),
    outputTokens: plus(usage.outputTokens, part?.tokens?.output),
    turns: (usage.turns ?? 0) + 1,
  };
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
