import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import type { BuiltInRunner } from '../model/built-in.js';

/** The files in which a program looks for its slash commands. */
interface CommandFiles {
  /**
   * Path patterns relative to the project; a new command goes to the first one. `{name}` is the command without its slash, in which `:` separates
   * folders.
   */
  readonly project: readonly string[];
  /** Path patterns relative to the user's home folder. */
  readonly home: readonly string[];
  /** Whether the program expands them without a terminal (measured). If not, self-heal sends the file's text. */
  readonly expandedBy: 'program' | 'self-heal';
}

const claudeFiles = ['.claude/commands/{name}.md', '.claude/skills/{name}/SKILL.md'];

/**
 * Codex and Copilot expand nothing without a terminal, so they can share Claude Code's files. Gemini CLI joins the lines of the arguments into
 * one, which would break the prompt's fenced blocks.
 */
export const commandFiles: Readonly<Record<BuiltInRunner, CommandFiles>> = {
  claude: { project: claudeFiles, home: claudeFiles, expandedBy: 'program' },
  codex: {
    project: ['.codex/prompts/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudeFiles],
    home: ['.codex/prompts/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudeFiles],
    expandedBy: 'self-heal',
  },
  gemini: {
    project: ['.gemini/commands/{name}.toml'],
    home: ['.gemini/commands/{name}.toml'],
    expandedBy: 'self-heal',
  },
  opencode: {
    project: [
      '.opencode/command/{name}.md',
      '.opencode/commands/{name}.md',
      '.claude/skills/{name}/SKILL.md',
    ],
    home: ['.config/opencode/command/{name}.md', '.config/opencode/commands/{name}.md'],
    expandedBy: 'program',
  },
  copilot: {
    project: ['.github/prompts/{name}.prompt.md', '.github/skills/{name}/SKILL.md', ...claudeFiles],
    home: ['.copilot/skills/{name}/SKILL.md', ...claudeFiles],
    expandedBy: 'self-heal',
  },
};

let commandPatterns: readonly RegExp[] | undefined;

/** Whether a program treats a file, in any folder, as a slash command of the project. */
export function isCommandFile(file: string): boolean {
  commandPatterns ??= Object.values(commandFiles)
    .flatMap(({ project }) => project)
    .map((pattern) => new RegExp(`(?:^|/)${pattern.split('{name}').map(escapeStringRegexp).join('.+')}$`));
  return commandPatterns.some((pattern) => pattern.test(file));
}

/** Whether a file is in a program's own folder, at any depth. Programs write files there when they start. */
export function isProgramsOwn(file: string): boolean {
  return /(?:^|\/)\.(?:claude|codex|gemini|opencode|copilot)\//.test(file);
}

/** Returns the file for a new slash command (`/debugger`, `/sub:name`) of a program, relative to the project and with `/`. */
export function commandFileOf(runner: BuiltInRunner, slashCommand: string): string {
  return withName(commandFiles[runner].project[0] ?? '', slashCommand);
}

/** Returns all absolute paths that a program's slash command may have, those in the project first. */
export function commandFilesOf(
  runner: BuiltInRunner,
  slashCommand: string,
  folders: { readonly project: string; readonly home: string },
): string[] {
  const { project, home } = commandFiles[runner];
  return [
    ...project.map((pattern) => path.join(folders.project, withName(pattern, slashCommand))),
    ...home.map((pattern) => path.join(folders.home, withName(pattern, slashCommand))),
  ];
}

/** Fills the name of a slash command into a path pattern. The name is its first word: `/fix --all` runs `/fix`. */
function withName(pattern: string, slashCommand: string): string {
  const [name = ''] = slashCommand.replace(/^\//, '').split(/\s/);
  return pattern.replace('{name}', name.split(':').join('/'));
}
