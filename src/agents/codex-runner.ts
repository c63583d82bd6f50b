import { z } from 'zod';
import { describeProgram } from './programs.js';
import { type AgentListener, readAddedArgs, type Runner } from './runner.js';
import { addMessage, readJsonLines } from './json-lines-reader.js';

/** How many of Codex's own retries to wait for; on a refused connection it retries forever. Codex's setting for this would have to name the provider. */
const MAX_RECONNECTS = 2;

/** The agent can write only to the project and has no network access; its shell does not see variables that look like secrets. */
const sandboxSettings = [
  'sandbox_workspace_write.exclude_slash_tmp=true',
  'sandbox_workspace_write.exclude_tmpdir_env_var=true',
  'shell_environment_policy.ignore_default_excludes=false',
];

/**
 * Returns the setting that marks folders as trusted. Codex respects a project's `.codex/` only if the user trusted its path, and the copy has
 * another path; `--trust` would write into the user's settings. A project whose tests self-heal runs is trusted.
 */
function trustFolders(...folders: readonly string[]): string {
  // A JSON string is also a TOML string. A dotted key would not work, because a path may contain dots.
  const entries = [...new Set(folders)].map((folder) => `${JSON.stringify(folder)}={trust_level="trusted"}`);
  return `projects={${entries.join(',')}}`;
}

const program = describeProgram('codex');

/** Runs Codex without a terminal (`codex exec`), in its sandbox; self-heal has already expanded the slash command in the prompt. */
export const codexRunner: Runner = {
  createCommand: ({ prompt, resume, screenshot, runner, cwd, copyOf }) => {
    const image = screenshot === null ? [] : ['-i', screenshot];
    const settings = [
      'sandbox_mode="workspace-write"',
      ...sandboxSettings,
      trustFolders(cwd, copyOf?.root ?? cwd),
    ].flatMap((setting) => ['-c', setting]);
    return {
      file: 'codex',
      args: [
        'exec',
        // A resumed session does not accept -s; it would be read-only without `sandbox_mode`.
        ...(resume ? ['resume'] : []),
        '--json',
        '--skip-git-repo-check',
        ...settings,
        ...readAddedArgs(runner),
        ...image,
        ...(resume ? ['--', resume, '-'] : ['--', '-']),
      ],
      env: program.env,
      // Not an argument, because Codex would append an open pipe to it, and it may be too long.
      input: prompt,
      passedVariables: program.passedVariables,
    };
  },
  openConversation: (_task, listener) => readCodexEvents(listener),
};

const eventShape = z.object({
  type: z.string(),
  thread_id: z.string().optional(),
  message: z.string().optional(),
  error: z.object({ message: z.string() }).optional(),
  usage: z.object({ input_tokens: z.number().optional(), output_tokens: z.number().optional() }).optional(),
  item: z
    .object({
      type: z.string(),
      text: z.string().optional(),
      command: z.string().optional(),
      status: z.string().optional(),
      aggregated_output: z.string().nullish(),
      changes: z.array(z.object({ path: z.string().optional() })).optional(),
    })
    .optional(),
});
type CodexEvent = z.infer<typeof eventShape>;

/** The sandbox's errors for a write outside of the project, and Codex's errors for anything that its policy forbids. */
const sandboxDenial =
  /read-only file system|operation not permitted|permission denied|rejected by|not permitted by/i;

/** Reads the JSON lines of `codex exec --json`. An item of type `error` may be only a warning; `turn.failed` is always an error. */
function readCodexEvents(listener: AgentListener) {
  let reconnects = 0;
  return readJsonLines('codex', eventShape, {
    onEvent: (event, transcript) => {
      const { type, item, message, usage } = event;
      if (event.thread_id) transcript.usage = { ...transcript.usage, sessionId: event.thread_id };
      if (type === 'turn.failed') transcript.failure = event.error?.message ?? 'turn.failed';
      if (type === 'turn.completed') {
        transcript.failure = null;
        const [inputTokens, outputTokens] = [usage?.input_tokens ?? null, usage?.output_tokens ?? null];
        transcript.usage = { ...transcript.usage, inputTokens, outputTokens, turns: 1 };
      }
      if (type === 'error') {
        transcript.failure = (message ?? 'error').replace(/^Reconnecting\.{3} \d+\/\d+ \((.*)\)$/s, '$1');
        if (message?.startsWith('Reconnecting')) reconnects += 1;
      }
      if (item?.type === 'agent_message') addMessage(transcript, item.text);
      if (type === 'item.completed' && item && isDenied(item))
        transcript.denials.push(item.command ?? item.type);
      const activity = describeActivity(event);
      if (activity !== null) listener.show(activity);
      if (type === 'turn.completed' || type === 'turn.failed') listener.finish();
      if (reconnects > MAX_RECONNECTS) listener.stop();
    },
    onOtherLine: (line, transcript) => {
      // On a refused connection, Codex waits for the network forever.
      if (!/waiting for network/i.test(line)) return;
      transcript.failure ??= 'Connection refused: waiting for network';
      listener.stop();
    },
  });
}

function isDenied({ status, aggregated_output: output }: NonNullable<CodexEvent['item']>): boolean {
  return status === 'declined' || (status === 'failed' && sandboxDenial.test(output ?? ''));
}

function describeActivity({ type, item }: CodexEvent): string | null {
  if (!item || item.type === 'error' || type === 'item.updated') return null;
  if (item.type === 'file_change')
    return `edit ${(item.changes ?? []).map((change) => change.path).join(' ')}`.trim();
  return item.command ?? item.text ?? null;
}
