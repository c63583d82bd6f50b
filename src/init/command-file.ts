import type { CommandFormat } from '../agents/programs.js';
import { unreachable } from '../core/unreachable.js';
import type { SlashCommand } from './slash-commands.js';

/** Claude Code asks nobody when it runs without a terminal: what is not allowed here or by self-heal's flags is refused. */
const claudeTools =
  'Read, Grep, Glob, Edit, Write, Bash(git status:*), Bash(git diff:*), Bash(git log:*), Bash(git show:*)';

/** The text of a slash command's file, as a program reads it; what failed is put in where the placeholder stands. */
export function commandFileText({ description, body }: SlashCommand, format: CommandFormat): string {
  switch (format) {
    case 'claude':
      return `---\ndescription: ${description}\nallowed-tools: ${claudeTools}\n---\n\n${body}\n\n${failure('$ARGUMENTS')}`;
    case 'markdown':
      return `---\ndescription: ${description}\n---\n\n${body}\n\n${failure('$ARGUMENTS')}`;
    case 'plain':
      return `${body}\n\n${failure('$ARGUMENTS')}`;
    case 'toml':
      // A literal string: TOML reads no escapes in it.
      return `description = '${description}'\n\nprompt = '''\n${body}\n\n${failure('{{args}}')}'''\n`;
    default:
      return unreachable(format);
  }
}

function failure(placeholder: string): string {
  return `## What failed\n\n${placeholder}\n`;
}
