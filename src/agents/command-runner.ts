import type { AgentClaim, Opinion } from '../model/attempt.js';
import type { RunnerSettings } from '../model/settings.js';
import { readClaim, readOpinion } from './claim.js';
import { type AgentTask, noUsage, type OutputReader, type Runner } from './runner.js';

/** The kernel accepts no argument over 128 KiB (MAX_ARG_STRLEN of execve(2)); a longer prompt is passed as a file. */
const MAX_ARGUMENT_BYTES = 100_000;

/** Runs any program, by its command line in agents.yaml. */
export function commandRunner(settings: Extract<RunnerSettings, { kind: 'command' }>): Runner {
  return {
    command: (task) => {
      const [file = '', ...args] = settings.command.map((word) => filledIn(word, task));
      const last = settings.prompt === 'argument' ? [promptArgument(task)] : [];
      return {
        file,
        args: [...args, ...last],
        env: {},
        passes: 'everything' as const,
        input: settings.prompt === 'stdin' ? task.prompt : '',
      };
    },
    reader: plainReader,
  };
}

function filledIn(word: string, { agent, contextFile, promptFile, screenshot }: AgentTask): string {
  const values: Record<string, string> = {
    slashCommand: agent.slashCommand,
    contextFile,
    promptFile,
    screenshot: screenshot ?? '',
  };
  return word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

function promptArgument({ agent, prompt, promptFile }: AgentTask): string {
  if (Buffer.byteLength(prompt) <= MAX_ARGUMENT_BYTES) return prompt;
  return `${agent.slashCommand}\n\nRead the whole task in ${promptFile}`;
}

/** Reads plain text; the last completion signal is the claim. */
function plainReader(): OutputReader {
  let claim: AgentClaim | null = null;
  let opinion: Opinion | null = null;
  return {
    line: (text) => {
      const [claimed, thought] = [readClaim(text), readOpinion(text)];
      claim = claimed ?? claim;
      opinion = thought ?? opinion;
      const complete = claimed !== null || thought !== null;
      return { activity: text.trim() === '' ? null : text, complete };
    },
    result: () => ({ claim, ...(opinion ? { opinion } : {}), usage: noUsage, denials: [], error: null }),
  };
}
