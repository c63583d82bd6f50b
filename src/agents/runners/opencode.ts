import { z } from 'zod';
import { lastClaim, parseJsonLine, createRemainder } from './json-line.js';
import { noUsage, type OutputReader, type Runner } from '../runner.js';
import { endingOfTrouble } from '../trouble.js';

/**
 * opencode without a terminal (measured on 1.18): slash commands run by `--command` alone, with what comes from standard input
 * appended to their arguments; a picture is dropped beside one, so the prompt names its path.
 */
export const opencodeRunner: Runner = {
  expandsCommands: true,
  command: ({ agent, prompt, resume, extraArgs }) => {
    const [word = '', ...args] = agent.slashCommand.slice(1).split(/\s+/);
    const rest = prompt.startsWith(agent.slashCommand)
      ? prompt.slice(agent.slashCommand.length).trimStart()
      : prompt;
    return {
      file: 'opencode',
      args: [
        'run',
        '--format',
        'json',
        ...(resume ? ['-s', resume] : []),
        ...extraArgs,
        '--command',
        word,
        ...args,
      ],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
      input: rest,
    };
  },
  reader: opencodeReader,
};

const eventShape = z.object({ type: z.string(), sessionID: z.string().optional() });
const textShape = z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) });
const toolShape = z.object({
  type: z.literal('tool_use'),
  part: z.object({
    tool: z.string().optional(),
    state: z.object({ status: z.string().optional(), title: z.string().optional() }).optional(),
  }),
});
const finishShape = z.object({
  type: z.literal('step_finish'),
  part: z.object({
    reason: z.string().optional(),
    cost: z.number().optional(),
    tokens: z.object({ input: z.number().optional(), output: z.number().optional() }).optional(),
  }),
});
const errorShape = z.object({
  type: z.literal('error'),
  error: z.object({
    name: z.string().optional(),
    data: z.object({ message: z.string().optional(), statusCode: z.number().optional() }).optional(),
  }),
});

/** Reads `--format json`. No event is the end for sure, so the end of the process is. */
export function opencodeReader(): OutputReader {
  const rest = createRemainder();
  const denials: string[] = [];
  let said = '';
  let usage = noUsage;
  let failure: string | null = null;
  let finished = false;
  return {
    line: (text) => {
      const event = parseJsonLine(text);
      if (event === null) {
        rest.add(text);
        const denied = /permission requested: (\w+).*auto-rejecting/.exec(text)?.[1];
        if (denied) denials.push(denied);
        return { activity: null, complete: false };
      }
      const known = eventShape.safeParse(event);
      if (known.success && known.data.sessionID) usage = { ...usage, sessionId: known.data.sessionID };
      const finish = finishShape.safeParse(event);
      if (finish.success) {
        usage = withStep(usage, finish.data.part);
        finished = finish.data.part.reason === 'stop';
      }
      const failed = errorShape.safeParse(event);
      if (failed.success) {
        const { name = '', data } = failed.data.error;
        failure = [name, data?.statusCode, data?.message].filter(Boolean).join(' ');
      }
      const words = textShape.safeParse(event);
      if (words.success) said = `${said}${words.data.part.text}\n`.slice(-20_000);
      const tool = toolShape.safeParse(event);
      const activity = words.success
        ? words.data.part.text
        : tool.success
          ? `${tool.data.part.tool ?? 'tool'} ${tool.data.part.state?.title ?? ''}`.trim()
          : null;
      return { activity, complete: false };
    },
    result: () => ({
      claim: lastClaim(said),
      usage,
      denials,
      trouble:
        failure !== null
          ? endingOfTrouble('opencode', failure)
          : finished || denials.length > 0
            ? null
            : { kind: 'silent', text: rest.text() },
    }),
  };
}

function withStep(usage: typeof noUsage, step: z.infer<typeof finishShape>['part']): typeof noUsage {
  const sum = (before: number | null, more: number | undefined) =>
    more === undefined ? before : (before ?? 0) + more;
  return {
    ...usage,
    costUsd: sum(usage.costUsd, step.cost),
    inputTokens: sum(usage.inputTokens, step.tokens?.input),
    outputTokens: sum(usage.outputTokens, step.tokens?.output),
    turns: (usage.turns ?? 0) + 1,
  };
}
