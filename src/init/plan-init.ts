import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { commandFileOf } from '../agents/command-files.js';
import type { AgentProgram } from '../agents/programs.js';
import { builtIn } from '../core/built-in-fixer.js';
import { builtInRunners } from '../core/built-in-runner.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { agentsFileText } from './agents-file-text.js';
import { ciProjectOf, type Machines } from './ci-project.js';
import type { CiSystem } from './ci-system.js';
import { commandFileText } from './command-file.js';
import { gitRootOf } from './git-root.js';
import { githubWorkflow } from './github-workflow.js';
import { gitlabWorkflow } from './gitlab-workflow.js';
import { ignoresFolder, withIgnoreEntry } from './ignore-entry.js';
import { slashCommands } from './slash-commands.js';
import { unreadable } from './write-problem.js';

/** What is to be set up, and where. */
export interface InitRequest {
  /** Absolute: the package that holds the Playwright config, or from which it is named. */
  readonly cwd: string;
  /** Null for the built-in fixer alone. */
  readonly agent: AgentProgram | null;
  /** Null where no workflow was asked for. */
  readonly ci: CiSystem | null;
  /** Null where one is enough. */
  readonly machines?: Machines | null;
  /** What `-c` named. */
  readonly config?: string;
}

/** A file of the plan, and how it stands to what is there. */
export interface PlannedFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the folder in which `init` runs, with `/`. */
  readonly name: string;
  /** Everything that the file would hold. */
  readonly text: string;
  /**
   * `new`: not there · `same`: nothing to do · `different`: there, with another text · `own`: as `init` wrote it for
   * another runner · `extended`: gets a line more. */
  readonly state: 'new' | 'same' | 'different' | 'own' | 'extended';
}

/** Compares what `init` would write with what is there; writes nothing. */
export async function planInit(request: InitRequest): Promise<Result<readonly PlannedFile[], Problem>> {
  const { cwd, agent } = request;
  const usual = existsSync(path.join(cwd, 'agents.yml')) ? 'agents.yml' : 'agents.yaml';
  const wanted = [
    {
      file: path.join(cwd, usual),
      text: agentsFileText(cwd, agent?.name ?? builtIn),
      isOwn: (there: string) =>
        [...builtInRunners, builtIn].some((one) => agentsFileText(cwd, one) === there),
    },
    ...(agent
      ? slashCommands.map((command) => ({
          file: path.join(cwd, commandFileOf(agent.name, `/${command.name}`)),
          text: commandFileText(command, agent.commandFormat),
        }))
      : []),
    ...workflow(request),
  ];
  try {
    const files = await Promise.all(wanted.map((one) => compare(cwd, one)));
    return ok([...files, await ignoreFile(cwd)]);
  } catch (error) {
    return err(unreadable(cwd, error));
  }
}

interface Wanted {
  readonly file: string;
  readonly text: string;
  /** Whether a text is one that `init` itself writes there, so that nobody's words are lost with it. */
  readonly isOwn?: (there: string) => boolean;
}

function workflow({ cwd, ci, agent, config, machines = null }: InitRequest): Wanted[] {
  if (ci === null) return [];
  const root = gitRootOf(cwd) ?? cwd;
  const project = ciProjectOf(cwd, root, config);
  return ci === 'github'
    ? [
        {
          file: path.join(root, '.github/workflows/self-heal.yml'),
          text: githubWorkflow(project, agent, machines),
        },
      ]
    : [
        {
          file: path.join(root, '.gitlab/self-heal.gitlab-ci.yml'),
          text: gitlabWorkflow(project, agent, machines),
        },
      ];
}

async function compare(cwd: string, { file, text, isOwn }: Wanted): Promise<PlannedFile> {
  // Git may have given the file other line ends; that is no difference to anybody.
  const there = (await readIfThere(file))?.replaceAll('\r\n', '\n') ?? null;
  return {
    path: file,
    name: nameFrom(cwd, file),
    text,
    state: there === null ? 'new' : there === text ? 'same' : isOwn?.(there) ? 'own' : 'different',
  };
}

/** The entry goes into the package's own .gitignore, unless one of those up to the root of the repository has it. */
async function ignoreFile(cwd: string): Promise<PlannedFile> {
  const file = path.join(cwd, '.gitignore');
  const there = await readIfThere(file);
  const name = '.gitignore';
  if (await isIgnored(cwd, gitRootOf(cwd) ?? cwd))
    return { path: file, name, text: there ?? '', state: 'same' };
  return { path: file, name, text: withIgnoreEntry(there ?? ''), state: there === null ? 'new' : 'extended' };
}

async function isIgnored(folder: string, root: string): Promise<boolean> {
  const text = await readIfThere(path.join(folder, '.gitignore'));
  if (text !== null && ignoresFolder(text)) return true;
  return folder !== root && folder.startsWith(root) ? isIgnored(path.dirname(folder), root) : false;
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function nameFrom(cwd: string, file: string): string {
  return path.relative(cwd, file).replaceAll(path.sep, '/');
}
