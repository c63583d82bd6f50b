import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import type { BuiltInRunner } from '../model/built-in.js';

/** Where a program keeps its slash commands, and who expands them. */
interface CommandPlaces {
  /**
   * Path patterns relative to the project and to the user's home folder; new commands go to the first one. `{name}` is the command without its
   * slash, in which `:` separates folders.
   */
  readonly project: readonly string[];
  readonly home: readonly string[];
  /** `program`: it expands them without a terminal; `self-heal`: it does not, so self-heal sends the file's text (measured). */
  readonly expandedBy: 'program' | 'self-heal';
}

const claudePlaces = ['.claude/commands/{name}.md', '.claude/skills/{name}/SKILL.md'];

/**
 * Codex and Copilot expand nothing without a terminal, so they can share Claude Code's files. Gemini CLI joins the lines of the arguments into
 * one, which would break the prompt's fenced blocks.
 */
export const commandPlaces: Readonly<Record<BuiltInRunner, CommandPlaces>> = {
  claude: { project: claudePlaces, home: claudePlaces, expandedBy: 'program' },
  codex: {
    project: ['.codex/prompts/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudePlaces],
    home: ['.codex/prompts/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudePlaces],
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
    project: ['.github/prompts/{name}.prompt.md', '.github/skills/{name}/SKILL.md', ...claudePlaces],
    home: ['.copilot/skills/{name}/SKILL.md', ...claudePlaces],
    expandedBy: 'self-heal',
  },
};

let commandPatterns: readonly RegExp[] | undefined;

/** Whether a program would take a file, which may be in any folder, for a slash command of the project. */
export function isCommandFile(file: string): boolean {
  commandPatterns ??= Object.values(commandPlaces)
    .flatMap(({ project }) => project)
    .map((place) => new RegExp(`(?:^|/)${place.split('{name}').map(escapeStringRegexp).join('.+')}$`));
  return commandPatterns.some((pattern) => pattern.test(file));
}

/** Whether a file, at any depth, is in a folder that a program keeps for itself: what it writes there at its start is not its work. */
export function isProgramsOwn(file: string): boolean {
  return /(?:^|\/)\.(?:claude|codex|gemini|opencode|copilot)\//.test(file);
}

/** Returns the file for a new slash command (`/debugger`, `/sub:name`) of a program, relative to the project and with `/`. */
export function commandFileOf(runner: BuiltInRunner, slashCommand: string): string {
  return filledIn(commandPlaces[runner].project[0] ?? '', slashCommand);
}

/** Returns every absolute path at which a program's slash command may be, the project's first. */
export function commandFilesOf(
  runner: BuiltInRunner,
  slashCommand: string,
  folders: { readonly project: string; readonly home: string },
): string[] {
  const { project, home } = commandPlaces[runner];
  return [
    ...project.map((place) => path.join(folders.project, filledIn(place, slashCommand))),
    ...home.map((place) => path.join(folders.home, filledIn(place, slashCommand))),
  ];
}

/** Fills in the name of a slash command, which is its first word: `/fix --all` runs `/fix`. */
function filledIn(place: string, slashCommand: string): string {
  const [name = ''] = slashCommand.replace(/^\//, '').split(/\s/);
  return place.replace('{name}', name.split(':').join('/'));
}
