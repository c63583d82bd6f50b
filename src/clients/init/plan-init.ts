import path from 'node:path';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { createTwoFilesPatch } from 'diff';
import { locateCommandFile } from '../../agents/command-files.js';
import type { AgentProgram, CommandFormat } from '../../agents/programs.js';
import { builtIn } from '../../model/built-in.js';
import { type Problem, describeError } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { type CiSystem, findDefaultBranch, workflowFiles, renderWorkflows } from './ci-workflow.js';
import { git, findGitRoot } from '../../workspace/git.js';
import { MCP_FILE, chooseSkillFile, skillText, addMcpServer } from './developer-agent.js';
import { type SlashCommand, slashCommands } from '../../agents/slash-commands.js';
import { isInside, resolveFuturePath, relativePath } from '../../paths.js';
import { packageFile } from '../../own-files.js';
import { unreachable } from '../../unreachable.js';

interface InitRequest {
  /** Absolute path of the package that contains the Playwright config, or to which `-c` is relative. */
  readonly cwd: string;
  /** Null to use only the built-in fixer. */
  readonly agent: AgentProgram | null;
  /** Null for no workflow. */
  readonly ci: CiSystem | null;
  /** Whether to add the MCP server for the developer's agent. */
  readonly mcp?: boolean;
  /** The value of `-c`. */
  readonly config?: string | undefined;
  /** Whether to overwrite files that differ. */
  readonly force: boolean;
}

/** A file that `init` would write, and its action for an existing file. */
export interface InitFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the folder in which `init` runs, with forward slashes. */
  readonly name: string;
  /** The complete new content. */
  readonly text: string;
  /** `extend` adds to the existing file; `keep` leaves a different file unchanged, which `overwrite` replaces with `--force`. */
  readonly action: 'write' | 'extend' | 'overwrite' | 'keep' | 'nothing';
  /** The content of a kept file. */
  readonly existing?: string | null;
}

/** Compares the files that `init` would write with the existing ones; writes nothing. */
export async function planInit(request: InitRequest): Promise<Result<readonly InitFile[], Problem>> {
  const { cwd, agent, force } = request;
  const agentsFile = existsSync(path.join(cwd, 'agents.yml')) ? 'agents.yml' : 'agents.yaml';
  const texts = [
    {
      file: path.join(cwd, agentsFile),
      text: renderAgentsFile(cwd, agent?.name ?? builtIn),
    },
    ...(agent
      ? slashCommands.map((command) => ({
          file: path.join(cwd, locateCommandFile(agent.name, `/${command.name}`)),
          text: renderCommandFile(command, agent.commandFormat),
        }))
      : []),
    { file: path.join(cwd, chooseSkillFile(agent?.name ?? null)), text: skillText },
    ...(await listWorkflows(request)),
  ];
  try {
    const mcp = request.mcp ? await planMcp(cwd) : ok([]);
    if (!mcp.ok) return mcp;
    const files = await Promise.all(texts.map((file) => planFile(file, { cwd, force })));
    return ok([...files, ...mcp.value, await planIgnoreFile(cwd)]);
  } catch (error) {
    // A file has the name of an expected folder, or vice versa.
    return err({
      kind: 'folder-not-writable',
      message: `the files in ${cwd} cannot be read`,
      detail: describeError(error),
      remedy: 'Fix the permissions, or move the conflicting files. Nothing was written.',
    });
  }
}

interface GeneratedFile {
  readonly file: string;
  readonly text: string;
}

async function listWorkflows({ cwd, ci, agent, config }: InitRequest): Promise<GeneratedFile[]> {
  if (ci === null) return [];
  const root = findGitRoot(cwd) ?? cwd;
  const defaultBranch = await findDefaultBranch(root);
  const texts = renderWorkflows({ system: ci, cwd, root, config, agent, defaultBranch });
  return texts.map((text, at) => ({
    file: path.join(root, workflowFiles[ci][at] ?? ''),
    text,
  }));
}

async function planFile(
  { file, text }: GeneratedFile,
  { cwd, force }: Pick<InitRequest, 'cwd' | 'force'>,
): Promise<InitFile> {
  // Ignores line endings, which git may have converted.
  const existing = (await readIfExists(file))?.replaceAll('\r\n', '\n') ?? null;
  return {
    path: file,
    name: relativePath(cwd, file),
    text,
    action: existing === null ? 'write' : existing === text ? 'nothing' : force ? 'overwrite' : 'keep',
    existing,
  };
}

/** Plans to add the server to the project's list, and keeps its other entries. */
async function planMcp(cwd: string): Promise<Result<InitFile[], Problem>> {
  const file = path.join(cwd, MCP_FILE);
  const existing = await readIfExists(file);
  const text = addMcpServer(existing);
  if (!text.ok) return text;
  const action = existing === null ? 'write' : existing === text.value ? 'nothing' : 'extend';
  return ok([{ path: file, name: MCP_FILE, text: text.value, action }]);
}

const IGNORE_ENTRY = '.self-heal/';

/** Plans to add the entry to the package's own .gitignore, unless the repository ignores the folder already. */
async function planIgnoreFile(cwd: string): Promise<InitFile> {
  const file = path.join(cwd, '.gitignore');
  const existing = await readIfExists(file);
  // A person's global ignore list does not help other people.
  const args = [
    '-c',
    'core.excludesFile=/dev/null',
    'check-ignore',
    '--quiet',
    '--no-index',
    `${IGNORE_ENTRY}runs`,
  ];
  const isIgnored = existing?.split(/\r?\n/).includes(IGNORE_ENTRY) || (await git(cwd, args)) !== null;
  const planned = { path: file, name: '.gitignore', text: existing ?? '' };
  if (isIgnored) return { ...planned, action: 'nothing' };
  return {
    ...planned,
    text: addIgnoreEntry(existing ?? ''),
    action: existing === null ? 'write' : 'extend',
  };
}

async function readIfExists(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const SCHEMA = 'node_modules/self-heal/schema/agents.schema.json';

const noAgentComment = `# No agent program is set up yet: the built-in fixer makes only the fixes it is sure of; other failures are reported with a prompt to paste.
# After installing one, run: npx self-heal init --agent claude --force`;

/**
 * Returns the shipped agents.yaml, with every default explained, for a runner. Its first line points editors to the installed
 * schema, which in a monorepo may be above the package.
 */
function renderAgentsFile(cwd: string, runner: string): string {
  return readFileSync(packageFile('agents.yaml'), 'utf8')
    .replace(/^# yaml-language-server: .*$/m, `# yaml-language-server: $schema=${findSchema(cwd)}`)
    .replace(/^runner: .*$/m, `${runner === builtIn ? `${noAgentComment}\n` : ''}runner: ${runner}`)
    .replace(
      'Every value here is',
      runner === 'claude' ? '$&' : 'Apart from the runner, every value here is',
    );
}

function findSchema(cwd: string): string {
  let folder = cwd;
  for (let up = ''; ; up += '../') {
    if (existsSync(path.join(folder, SCHEMA))) return `${up === '' ? './' : up}${SCHEMA}`;
    const parent = path.dirname(folder);
    // If self-heal is not installed yet, or under Plug'n'Play, uses the usual location.
    if (parent === folder) return `./${SCHEMA}`;
    folder = parent;
  }
}

/** The tools that Claude Code may use in addition to those that self-heal's flags allow. Without a terminal, it cannot request permission for others. */
const listClaudeTools = (isReadOnly = false) =>
  `Read, Grep, Glob, ${isReadOnly ? '' : 'Edit, Write, '}Bash(git status:*), Bash(git diff:*), Bash(git log:*), Bash(git show:*)`;

/** Returns the content of a slash command's file in a program's format. The program replaces the placeholder with the failure. */
export function renderCommandFile(
  { description, body, isReadOnly }: SlashCommand,
  format: CommandFormat,
): string {
  switch (format) {
    case 'claude':
      return `---\ndescription: ${description}\nallowed-tools: ${listClaudeTools(isReadOnly)}\n---\n\n${body}\n\n${renderFailure('$ARGUMENTS')}`;
    case 'markdown':
      return `---\ndescription: ${description}\n---\n\n${body}\n\n${renderFailure('$ARGUMENTS')}`;
    case 'plain':
      return `${body}\n\n${renderFailure('$ARGUMENTS')}`;
    case 'toml':
      // A literal string, in which TOML processes no escapes.
      return `description = '${description}'\n\nprompt = '''\n${body}\n\n${renderFailure('{{args}}')}'''\n`;
    default:
      return unreachable(format);
  }
}

function renderFailure(placeholder: string): string {
  return `## What failed\n\n${placeholder}\n`;
}

/** Appends the entry to a .gitignore, with the file's own line endings. */
function addIgnoreEntry(text: string): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const complete = text === '' || text.endsWith('\n') ? text : `${text}${end}`;
  return `${complete}${IGNORE_ENTRY}${end}`;
}

export function needsWriting({ action }: InitFile): boolean {
  return action !== 'nothing' && action !== 'keep';
}

/** Writes the planned files, except through a link that leads out of this folder, or over a file that was created after planning. */
export async function writePlan(plan: readonly InitFile[], root: string): Promise<Problem | null> {
  const written: string[] = [];
  const files = plan.filter(needsWriting);
  const outside = files.find((file) => !isInside(realpathSync(root), resolveFuturePath(file.path)));
  if (outside)
    return {
      kind: 'folder-not-writable',
      message: `${outside.name} is, or is reached through, a link that leads out of the project`,
      remedy: 'Remove the link and run `self-heal init` again (nothing was written).',
    };
  for (const file of files) {
    try {
      await mkdir(path.dirname(file.path), { recursive: true });
      await writeFile(file.path, file.text, { flag: file.action === 'write' ? 'wx' : 'w' });
    } catch (error) {
      return createUnwritableProblem(file.name, error, written);
    }
    written.push(file.name);
  }
  return null;
}

/** Creates the problem for a file that cannot be written. Files written before it are complete, so a second `init` continues from there. */
function createUnwritableProblem(name: string, error: unknown, written: readonly string[]): Problem {
  const before = written.length === 0 ? 'nothing was written' : `already written: ${written.join(', ')}`;
  return {
    kind: 'folder-not-writable',
    message: `${name} cannot be written`,
    detail: describeError(error),
    remedy: `Make the folder writable and run \`self-heal init\` again (${before}).`,
  };
}

const actionWords: Readonly<Record<InitFile['action'], readonly [done: string, planned: string]>> = {
  write: ['wrote', 'would write'],
  extend: ['added self-heal to', 'would add self-heal to'],
  overwrite: ['overwrote', 'would overwrite'],
  keep: ['kept', 'would keep'],
  nothing: ['unchanged', 'unchanged'],
};

export function formatPlan(plan: readonly InitFile[], dryRun: boolean): string {
  const lines = plan.map(({ name, action, existing, text }) => {
    const line = `${actionWords[action][dryRun ? 1 : 0]} ${name}`;
    return action === 'keep'
      ? `${line}; --force changes it like this:\n${formatDiff(existing ?? '', text)}`
      : line;
  });
  return `${lines.join('\n')}\n`;
}

/** Returns the changed lines with a few around them, without the header. */
function formatDiff(before: string, after: string): string {
  const [, , , , ...lines] = createTwoFilesPatch('', '', before, after, '', '', { context: 1 }).split('\n');
  return lines.filter((line) => line !== '').join('\n');
}

export function formatTexts(plan: readonly InitFile[]): string {
  return plan
    .filter(needsWriting)
    .map(({ name, text }) => `\n--- ${name}\n${text.replace(/\r?\n$/, '')}\n`)
    .join('');
}
