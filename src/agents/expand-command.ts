import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { parse } from 'smol-toml';
import type { RunnerSettings } from '../model/settings.js';
import { tryOr } from '../result.js';
import { commandFiles, commandFilesOf } from './command-files.js';

/**
 * Returns the prompt in the form that a program needs. A built-in program that does not expand slash commands without a terminal gets the clean text of
 * the command's file, with the rest of the prompt as arguments. If the file no longer exists, the prompt stays as it is. Without a program, a
 * person pastes the prompt, so it has no slash command.
 */
export async function expandedPrompt(
  runner: Pick<RunnerSettings, 'kind'> | undefined,
  prompt: string,
  { cwd, clean }: { readonly cwd: string; readonly clean: (text: string) => string },
): Promise<string> {
  if (!runner) return splitCommand(prompt).rest;
  const { kind } = runner;
  if (kind === 'command' || commandFiles[kind].expandedBy === 'program') return prompt;
  const { command, rest } = splitCommand(prompt);
  for (const file of commandFilesOf(kind, command, { project: cwd, home: homedir() })) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text !== null) return fillIn(clean(file.endsWith('.toml') ? promptOfToml(text) : text), rest);
  }
  return prompt;
}

/** Splits a prompt into the slash command at its beginning and everything after it. */
export function splitCommand(prompt: string): { readonly command: string; readonly rest: string } {
  const [command = ''] = /^\S*/.exec(prompt) ?? [];
  return { command, rest: prompt.slice(command.length).trim() };
}

/**
 * Fills `$ARGUMENTS`, `$1` … `$9` and `{{args}}` into a command's text without its front matter. If the text has no placeholder, the arguments
 * are appended.
 */
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

/** Returns the `prompt` of a Gemini CLI command file, or the whole text if it has none or is not TOML. */
export function promptOfToml(toml: string): string {
  const prompt = tryOr(undefined, () => parse(toml)['prompt']);
  return typeof prompt === 'string' ? prompt : toml;
}
