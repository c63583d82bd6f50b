import { z } from 'zod';
import { lastClaim, parseJsonLine, createRemainder } from './json-line.js';
import { noUsage, type OutputReader, type Runner } from '../runner.js';
import { endingOfTrouble } from '../trouble.js';

/**
 * Codex without a terminal (measured on 0.169): its default sandbox only reads and lets the model say that all is well, so it is told
 * to write in the project; it expands no slash command, so it gets the text of the command's file.
 */
export const codexRunner: Runner = {
  expandsCommands: false,
  command: ({ prompt, screenshot, extraArgs }) => ({
    file: 'codex',
    args: [
      'exec',
      '--json',
      // Takes several values: another flag has to follow.
      ...(screenshot ? ['-i', screenshot] : []),
      '--skip-git-repo-check',
      '-s',
      'workspace-write',
      // Its own retries are few, since ours count.
      '-c',
      'model_providers.openai.request_max_retries=1',
      '-c',
      'model_providers.openai.stream_max_retries=1',
      ...extraArgs,
      '-',
    ],
    env: {},
    input: prompt,
  }),
  reader: codexReader,
};

const itemShape = z.object({
  type: z.enum(['item.started', 'item.completed']),
  item: z.object({
    type: z.string(),
    text: z.string().optional(),
    command: z.string().optional(),
    status: z.string().optional(),
    changes: z.array(z.object({ path: z.string() })).optional(),
  }),
});
const startedShape = z.object({ type: z.literal('thread.started'), thread_id: z.string() });
const completedShape = z.object({
  type: z.literal('turn.completed'),
  usage: z.object({ input_tokens: z.number().optional(), output_tokens: z.number().optional() }).optional(),
});
const failedShape = z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) });

/** Reads `codex exec --json`: a line of JSON an event; `turn.completed` or `turn.failed` is the end. */
export function codexReader(): OutputReader {
  const rest = createRemainder();
  const denials: string[] = [];
  let usage = noUsage;
  let claim: ReturnType<typeof lastClaim> = null;
  let failure: string | null = null;
  let ended = false;
  return {
    line: (text) => {
      const event = parseJsonLine(text);
      if (event === null) rest.add(text);
      const started = startedShape.safeParse(event);
      if (started.success) usage = { ...usage, sessionId: started.data.thread_id };
      const completed = completedShape.safeParse(event);
      if (completed.success) {
        const { input_tokens: inputTokens = null, output_tokens: outputTokens = null } =
          completed.data.usage ?? {};
        usage = { ...usage, inputTokens, outputTokens };
      }
      const failed = failedShape.safeParse(event);
      if (failed.success) failure = failed.data.error.message;
      ended ||= completed.success || failed.success;
      const item = itemShape.safeParse(event);
      if (!item.success) return { activity: null, complete: ended };
      const { type, text: said, command, changes, status } = item.data.item;
      if (type === 'agent_message' && said) claim = lastClaim(said) ?? claim;
      if (type === 'file_change' && (status === 'failed' || status === 'declined'))
        denials.push('file_change');
      return {
        activity: said ?? command ?? changes?.map((one) => one.path).join(', ') ?? null,
        complete: ended,
      };
    },
    result: () => ({
      claim,
      usage,
      denials,
      trouble:
        failure !== null
          ? endingOfTrouble('codex', failure)
          : ended
            ? null
            : { kind: 'silent', text: rest.text() },
    }),
  };
}
