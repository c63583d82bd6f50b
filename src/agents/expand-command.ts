import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { parse } from 'smol-toml';
import type { RunnerSettings } from '../model/settings.js';
import { tryOr } from '../result.js';
import { listCommandFiles } from './command-files.js';
import { slashCommands } from './slash-commands.js';

/**
 * Returns the prompt as the program receives it. Without a terminal, Codex does not expand slash commands, so it gets the masked text of the command's
 * file, with the rest of the prompt as arguments. If there is no runner, a person pastes the prompt, so it has no slash command.
 */
export async function expandPrompt(
  runner: Pick<RunnerSettings, 'kind'> | undefined,
  prompt: string,
  context: CommandContext,
): Promise<string> {
  if (!runner) return splitCommand(prompt).args;
  return runner.kind === 'codex' ? ((await expandCommand(runner.kind, prompt, context)) ?? prompt) : prompt;
}

interface CommandContext {
  readonly cwd: string;
  readonly clean: (text: string) => string;
}

/**
 * Returns the text of a slash command's file, with the rest of the prompt as its arguments. If there is no file, returns the text that `init` would
 * write, so that an ACP program needs only its line in agents.yaml; null for any other command.
 */
export async function expandCommand(
  program: string,
  prompt: string,
  { cwd, clean }: CommandContext,
): Promise<string | null> {
  const { command, args } = splitCommand(prompt);
  for (const file of listCommandFiles(program, command, { project: cwd, home: homedir() })) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text !== null)
      return fillArguments(clean(file.endsWith('.toml') ? readTomlPrompt(text) : text), args);
  }
  const builtInCommand = slashCommands.find(({ name }) => `/${name}` === command);
  return builtInCommand ? fillArguments(builtInCommand.body, args) : null;
}

/** Splits a prompt into the slash command at its beginning and everything after it. */
export function splitCommand(prompt: string): { readonly command: string; readonly args: string } {
  const [command = ''] = /^\S*/.exec(prompt) ?? [];
  return { command, args: prompt.slice(command.length).trim() };
}

/**
 * Fills `$ARGUMENTS`, `$1` … `$9` and `{{args}}` into a command's text without its front matter. If the text has no placeholder, the arguments
 * are appended.
 */
export function fillArguments(commandText: string, args: string): string {
  const body = commandText.replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---[^\S\n]*(?:\r?\n|$)/, '').trim();
  const placeholder = /\{\{args\}\}|\$(?:ARGUMENTS\b|\{ARGUMENTS\}|([1-9])(?!\d))/g;
  if (body.search(placeholder) === -1) return `${body}\n\n${args}\n`;
  const words = args.split(/\s+/);
  const filled = body.replaceAll(placeholder, (_, position?: string) =>
    position === undefined ? args : (words[Number(position) - 1] ?? ''),
  );
  return `${filled}\n`;
}

/** Returns the `prompt` of a Gemini CLI command file, or the whole text if it has none or is not TOML. */
export function readTomlPrompt(toml: string): string {
  const prompt = tryOr(undefined, () => parse(toml)['prompt']);
  return typeof prompt === 'string' ? prompt : toml;
}
