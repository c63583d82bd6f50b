import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { parse } from 'smol-toml';
import type { RunnerSettings } from '../core/settings.js';
import { commandFilesOf, commandPlaces } from './command-files.js';

/**
 * The prompt as a program has to be sent it: a built-in one that expands no slash commands without a terminal gets the text of the
 * command's file with the rest of the prompt as its arguments. A file that is gone by now leaves the prompt as it is.
 */
export async function expandedPrompt(
  { kind }: Pick<RunnerSettings, 'kind'>,
  prompt: string,
  cwd: string,
): Promise<string> {
  if (kind === 'command' || commandPlaces[kind].expandedBy === 'program') return prompt;
  const { command, rest } = splitCommand(prompt);
  for (const file of commandFilesOf(kind, command, { project: cwd, home: homedir() })) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text !== null) return fillIn(file.endsWith('.toml') ? promptOfToml(text) : text, rest);
  }
  return prompt;
}

/** The slash command that a prompt begins with, and all that follows it. */
export function splitCommand(prompt: string): { readonly command: string; readonly rest: string } {
  const [command = ''] = /^\S*/.exec(prompt) ?? [];
  return { command, rest: prompt.slice(command.length).trim() };
}

/** Fills `$ARGUMENTS`, `$1` … `$9` and `{{args}}` into a command's text without its front matter; one that asks for neither is followed by them. */
export function fillIn(commandText: string, args: string): string {
  const body = commandText.replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---[^\S\n]*(?:\r?\n|$)/, '').trim();
  const placeholder = /\{\{args\}\}|\$(?:ARGUMENTS\b|\{ARGUMENTS\}|([1-9])(?!\d))/g;
  if (body.search(placeholder) === -1) return `${body}\n\n${args}\n`;
  const words = args.split(/\s+/);
  const filled = body.replaceAll(placeholder, (_, position?: string) =>
    position === undefined ? args : (words[Number(position) - 1] ?? ''),
  );
  return `${filled}\n`;
}

/** The `prompt` of a Gemini CLI command file; the whole text where it has none or is not TOML. */
export function promptOfToml(toml: string): string {
  try {
    const { prompt } = parse(toml);
    return typeof prompt === 'string' ? prompt : toml;
  } catch {
    return toml;
  }
}
