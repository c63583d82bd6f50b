import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import type { BuiltInProgram } from '../core/settings.js';

/**
 * Where the programs keep their slash commands, the first place first, relative to the project or the home folder; `*` stands for the
 * command's name. Codex and Copilot expand none without a terminal (measured on 0.169 and 1.0.102): self-heal reads the file for them.
 */
const places: Readonly<Record<BuiltInProgram, readonly string[]>> = {
  claude: ['.claude/commands/*.md', '.claude/skills/*/SKILL.md'],
  codex: ['.codex/prompts/*.md', '.claude/commands/*.md'],
  gemini: ['.gemini/commands/*.toml'],
  opencode: ['.opencode/command/*.md', '.opencode/commands/*.md', '.claude/skills/*/SKILL.md'],
  copilot: ['.github/prompts/*.prompt.md', '.claude/commands/*.md'],
};

/** Where a new slash command of a program belongs, relative to the project. */
export function commandFileOf(program: BuiltInProgram, slashCommand: string): string {
  return (places[program][0] ?? '').replace('*', nameOf(program, slashCommand));
}

/** The file of a slash command in the project or in the home folder, absolute; null where there is none. */
export async function findCommandFile(
  program: BuiltInProgram,
  slashCommand: string,
  { cwd, home = homedir() }: { cwd: string; home?: string },
): Promise<string | null> {
  const name = nameOf(program, slashCommand);
  const files = [cwd, home].flatMap((folder) =>
    places[program].map((place) => path.join(folder, place.replace('*', name))),
  );
  for (const file of files) if (await isReadable(file)) return file;
  return null;
}

/** `/sub:name --flag` lies in `sub/name`; whatever follows the first word are arguments. */
function nameOf(program: BuiltInProgram, slashCommand: string): string {
  const [word = ''] = slashCommand.slice(1).split(/\s/);
  return program === 'copilot' ? word : path.join(...word.split(':'));
}

/**
 * What a program would make of a slash command, for those that do not expand it: the file's text without its front matter, with
 * `$ARGUMENTS` filled in, or followed by them. The prompt itself where there is no such file.
 */
export async function expandCommand(
  program: BuiltInProgram,
  prompt: string,
  where: { cwd: string; home?: string },
): Promise<string> {
  const [, slashCommand = '', rest = ''] = /^(\/\S+)\s*([^]*)$/.exec(prompt) ?? [];
  const file = slashCommand === '' ? null : await findCommandFile(program, slashCommand, where);
  if (file === null) return prompt;
  const body = withoutFrontMatter(await readFile(file, 'utf8')).trim();
  return body.includes('$ARGUMENTS') ? body.replaceAll('$ARGUMENTS', () => rest) : `${body}\n\n${rest}`;
}

function withoutFrontMatter(text: string): string {
  const [whole = '', yaml] = /^\uFEFF?---\r?\n([^]*?)\r?\n---[ \t]*\r?\n/.exec(text) ?? [];
  if (yaml === undefined) return text;
  try {
    return typeof parse(yaml) === 'object' ? text.slice(whole.length) : text;
  } catch {
    return text.slice(whole.length);
  }
}

async function isReadable(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
