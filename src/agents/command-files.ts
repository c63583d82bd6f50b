import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { describeProgram, listAllCommandFiles } from './programs.js';

let commandPatterns: readonly RegExp[] | undefined;

/** True if some program treats a file, in any folder, as a slash command. */
export function isCommandFile(file: string): boolean {
  commandPatterns ??= listAllCommandFiles().map(
    (pattern) => new RegExp(`(?:^|/)${pattern.split('{name}').map(escapeStringRegexp).join('.+')}$`),
  );
  return commandPatterns.some((pattern) => pattern.test(file));
}

/** True if a file is in a program's own folder, at any depth. Programs write files there when they start. */
export function isInProgramFolder(file: string): boolean {
  return /(?:^|\/)\.(?:claude|codex|gemini|opencode|copilot|cursor|goose|kimi|kiro|qwen|vibe)\//.test(file);
}

/** Returns the file for a new slash command (`/debugger`, `/sub:name`) of a program, relative to the project and with `/`. */
export function locateCommandFile(program: string, slashCommand: string): string {
  return fillName(describeProgram(program).commandFiles[0] ?? '', slashCommand);
}

/** Returns all absolute paths that a program's slash command may have, those in the project first. */
export function listCommandFiles(
  program: string,
  slashCommand: string,
  folders: { readonly project: string; readonly home: string },
): string[] {
  const files = describeProgram(program).commandFiles.map((pattern) => fillName(pattern, slashCommand));
  return [folders.project, folders.home].flatMap((folder) => files.map((file) => path.join(folder, file)));
}

/** Fills the name of a slash command into a path pattern. The name is its first word: `/fix --all` runs `/fix`. */
function fillName(pattern: string, slashCommand: string): string {
  const [name = ''] = slashCommand.replace(/^\//, '').split(/\s/);
  return pattern.replace('{name}', name.split(':').join('/'));
}
