import { z } from 'zod';
import { lastClaim, parseJsonLine, createRemainder } from './json-line.js';
import { noUsage, type OutputReader, type Runner } from '../runner.js';
import { endingOfTrouble } from '../trouble.js';

/**
 * Gemini CLI without a terminal (measured on 0.61): `auto_edit` may edit and offers no shell; the folder has to be trusted, which the
 * environment says. Its exit code is the HTTP status modulo 256, so only its words tell what happened.
 */
export const geminiRunner: Runner = {
  expandsCommands: true,
  command: ({ prompt, screenshot, extraArgs }) => ({
    file: 'gemini',
    args: ['--approval-mode', 'auto_edit', '-o', 'stream-json', ...extraArgs],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    input: screenshot ? `${prompt}\n@${screenshot}\n` : prompt,
  }),
  reader: geminiReader,
};

const initShape = z.object({ type: z.literal('init'), session_id: z.string().optional() });
const messageShape = z.object({
  type: z.literal('message'),
  role: z.string().optional(),
  content: z.string(),
});
const toolShape = z.object({
  type: z.literal('tool_use'),
  tool_name: z.string(),
  parameters: z.object({ file_path: z.string().optional() }).optional(),
});
const resultShape = z.object({
  type: z.literal('result'),
  status: z.string().optional(),
  error: z.object({ message: z.string().optional() }).nullish(),
  stats: z.object({ input_tokens: z.number().optional(), output_tokens: z.number().optional() }).optional(),
});

/** Reads `-o stream-json`; errors come as text on standard error. */
export function geminiReader(): OutputReader {
  const rest = createRemainder();
  let said = '';
  let usage = noUsage;
  let result: z.infer<typeof resultShape> | null = null;
  return {
    line: (text) => {
      const event = parseJsonLine(text);
      if (event === null) rest.add(text);
      const init = initShape.safeParse(event);
      if (init.success) usage = { ...usage, sessionId: init.data.session_id ?? null };
      const message = messageShape.safeParse(event);
      if (message.success && message.data.role !== 'user')
        said = `${said}${message.data.content}`.slice(-20_000);
      const tool = toolShape.safeParse(event);
      const ended = resultShape.safeParse(event);
      if (ended.success) {
        result = ended.data;
        const { input_tokens: inputTokens = null, output_tokens: outputTokens = null } =
          ended.data.stats ?? {};
        usage = { ...usage, inputTokens, outputTokens };
      }
      const activity = tool.success
        ? `${tool.data.tool_name} ${tool.data.parameters?.file_path ?? ''}`.trim()
        : message.success && message.data.role !== 'user'
          ? message.data.content
          : null;
      return { activity, complete: ended.success };
    },
    result: () => {
      const failed = result !== null && result.status !== undefined && result.status !== 'success';
      return {
        claim: lastClaim(said),
        usage,
        denials: [],
        trouble: failed
          ? endingOfTrouble('gemini', result?.error?.message ?? rest.text())
          : result
            ? null
            : { kind: 'silent', text: rest.text() },
      };
    },
  };
}
