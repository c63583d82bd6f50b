import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { type BuiltInRunner, isBuiltInRunner } from '../model/built-in.js';

/** The files in which a program looks for its slash commands. */
interface CommandFiles {
  /**
   * Path patterns relative to the project; a new command goes to the first one. `{name}` is the command without its slash, in which `:` separates
   * folders.
   */
  readonly project: readonly string[];
  /** Path patterns relative to the user's home folder. */
  readonly home: readonly string[];
}

const claudeFiles = ['.claude/commands/{name}.md', '.claude/skills/{name}/SKILL.md'];

/** Codex expands nothing without a terminal, and Copilot nothing over the protocol, so they can share Claude Code's files. */
const commandFiles: Readonly<Record<BuiltInRunner, CommandFiles>> = {
  claude: { project: claudeFiles, home: claudeFiles },
  codex: {
    project: ['.codex/prompts/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudeFiles],
    home: ['.codex/prompts/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudeFiles],
  },
  gemini: {
    project: ['.gemini/commands/{name}.toml'],
    home: ['.gemini/commands/{name}.toml'],
  },
  opencode: {
    project: [
      '.opencode/command/{name}.md',
      '.opencode/commands/{name}.md',
      '.claude/skills/{name}/SKILL.md',
    ],
    home: ['.config/opencode/command/{name}.md', '.config/opencode/commands/{name}.md'],
  },
  copilot: {
    project: ['.github/prompts/{name}.prompt.md', '.github/skills/{name}/SKILL.md', ...claudeFiles],
    home: ['.copilot/skills/{name}/SKILL.md', ...claudeFiles],
  },
};

/** The command files of a program that self-heal does not know, for it or for self-heal to read. */
const sharedFiles: CommandFiles = {
  project: ['.agents/commands/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudeFiles],
  home: ['.agents/skills/{name}/SKILL.md', ...claudeFiles],
};

function listPatterns(program: string): CommandFiles {
  return isBuiltInRunner(program) ? commandFiles[program] : sharedFiles;
}

let commandPatterns: readonly RegExp[] | undefined;

/** Whether a program treats a file, in any folder, as a slash command of the project. */
export function isCommandFile(file: string): boolean {
  commandPatterns ??= [...Object.values(commandFiles), sharedFiles]
    .flatMap(({ project }) => project)
    .map((pattern) => new RegExp(`(?:^|/)${pattern.split('{name}').map(escapeStringRegexp).join('.+')}$`));
  return commandPatterns.some((pattern) => pattern.test(file));
}

/** Whether a file is in a program's own folder, at any depth. Programs write files there when they start. */
export function isInProgramFolder(file: string): boolean {
  return /(?:^|\/)\.(?:claude|codex|gemini|opencode|copilot|cursor|goose|kimi|kiro|qwen|vibe)\//.test(file);
}

/** Returns the file for a new slash command (`/debugger`, `/sub:name`) of a program, relative to the project and with `/`. */
export function locateCommandFile(runner: string, slashCommand: string): string {
  return fillName(listPatterns(runner).project[0] ?? '', slashCommand);
}

/** Returns all absolute paths that a program's slash command may have, those in the project first. */
export function listCommandFiles(
  runner: string,
  slashCommand: string,
  folders: { readonly project: string; readonly home: string },
): string[] {
  const { project, home } = listPatterns(runner);
  return [
    ...project.map((pattern) => path.join(folders.project, fillName(pattern, slashCommand))),
    ...home.map((pattern) => path.join(folders.home, fillName(pattern, slashCommand))),
  ];
}

/** Fills the name of a slash command into a path pattern. The name is its first word: `/fix --all` runs `/fix`. */
function fillName(pattern: string, slashCommand: string): string {
  const [name = ''] = slashCommand.replace(/^\//, '').split(/\s/);
  return pattern.replace('{name}', name.split(':').join('/'));
}
