import type { AgentClaim } from '../model/attempt.js';
import type { RunnerSettings } from '../model/settings.js';
import { findClaim, findOpinion } from './claim.js';
import { type AgentListener, type AgentTask, type Conversation, noUsage, type Runner } from './runner.js';

/** The kernel accepts no argument over 128 KiB (MAX_ARG_STRLEN of execve(2)); a longer prompt is passed as a file. */
const MAX_ARGUMENT_BYTES = 100_000;

/** Runs any program, by its command line in agents.yaml. */
export function createCommandRunner(settings: Extract<RunnerSettings, { kind: 'command' }>): Runner {
  return {
    createCommand: (task) => {
      const [file = '', ...args] = settings.command.map((word) => fillPlaceholders(word, task));
      const promptArgs = settings.prompt === 'argument' ? [createPromptArgument(task)] : [];
      return {
        file,
        args: [...args, ...promptArgs],
        env: {},
        passedVariables: 'everything' as const,
        input: settings.prompt === 'stdin' ? task.prompt : '',
      };
    },
    openConversation: readPlainText,
  };
}

/** Replaces the placeholders in a word of a command line. */
function fillPlaceholders(word: string, { agent, contextFile, promptFile, screenshot }: AgentTask): string {
  const values: Record<string, string> = {
    slashCommand: agent.slashCommand,
    contextFile,
    promptFile,
    screenshot: screenshot ?? '',
  };
  return word.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

function createPromptArgument({ agent, prompt, promptFile }: AgentTask): string {
  if (Buffer.byteLength(prompt) <= MAX_ARGUMENT_BYTES) return prompt;
  return `${agent.slashCommand}\n\nRead the whole task in ${promptFile}`;
}

/** Reads plain text. The last completion signal is the claim, and the last line with the token is the final message. */
function readPlainText({ token }: AgentTask, listener: AgentListener): Conversation {
  let claim: AgentClaim | null = null;
  let finalMessage = '';
  return {
    readLine: (line) => {
      const isAnswer = token !== undefined && findOpinion(line, token) !== null;
      const newClaim = findClaim(line);
      claim = newClaim ?? claim;
      if (isAnswer) finalMessage = line;
      if (line.trim() !== '') listener.show(line);
      if (isAnswer || newClaim !== null) listener.finish();
    },
    result: () => ({ claim, finalMessage, usage: noUsage, denials: [], error: null }),
  };
}
