import { z } from 'zod';
import { lastClaim, parseJsonLine, createRemainder } from './json-line.js';
import { noUsage, type OutputReader, type Runner } from '../runner.js';
import { endingOfTrouble } from '../trouble.js';

/**
 * Copilot CLI without a terminal (measured on 1.0.102): it may write and nothing more; without that it denies every edit and ends well.
 * It expands no slash command, so it gets the text of the command's file.
 */
export const copilotRunner: Runner = {
  expandsCommands: false,
  command: ({ prompt, screenshot, extraArgs }) => ({
    file: 'copilot',
    args: [
      '--allow-tool',
      'write',
      '--no-ask-user',
      '--output-format',
      'json',
      ...(screenshot ? ['--attachment', screenshot] : []),
      ...extraArgs,
    ],
    env: { COPILOT_AUTO_UPDATE: 'false' },
    input: prompt,
  }),
  reader: copilotReader,
};

const resultShape = z.object({
  type: z.literal('result'),
  exitCode: z.number().optional(),
  sessionId: z.string().optional(),
});
const errorShape = z.object({
  type: z.literal('session.error'),
  data: z.object({ message: z.string().optional(), statusCode: z.number().optional() }).optional(),
  message: z.string().optional(),
  statusCode: z.number().optional(),
});
const messageShape = z.object({
  type: z.literal('assistant.message'),
  data: z.object({ content: z.string() }),
});

/** Reads `--output-format json`: lines of JSON, of which `result` is the last. */
export function copilotReader(): OutputReader {
  const rest = createRemainder();
  let said = '';
  let failure: string | null = null;
  let result: z.infer<typeof resultShape> | null = null;
  return {
    line: (text) => {
      const event = parseJsonLine(text);
      if (event === null) rest.add(text);
      const ended = resultShape.safeParse(event);
      if (ended.success) result = ended.data;
      const failed = errorShape.safeParse(event);
      if (failed.success) {
        const { data, message, statusCode } = failed.data;
        failure = [data?.statusCode ?? statusCode, data?.message ?? message].filter(Boolean).join(' ');
      }
      const words = messageShape.safeParse(event);
      if (words.success) said = `${said}${words.data.data.content}\n`.slice(-20_000);
      return { activity: words.success ? words.data.data.content : null, complete: ended.success };
    },
    result: () => ({
      claim: lastClaim(said),
      usage: { ...noUsage, sessionId: result?.sessionId ?? null },
      denials: [],
      trouble:
        failure !== null
          ? endingOfTrouble('copilot', failure)
          : result
            ? null
            : { kind: 'silent', text: rest.text() },
    }),
  };
}
