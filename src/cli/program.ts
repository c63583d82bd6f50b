import { Command } from 'commander';
import { readOwnVersion } from '../own-files.js';
import { findStateProblem, StateRefused } from '../state-folder.js';

/** Loads a command's file, which adds its arguments, flags and action. */
type LoadCommand = () => Promise<{ define(command: Command): Command }>;

/** All commands, in the order of `--help`. */
const commands: Readonly<Record<string, readonly [description: string, load: LoadCommand]>> = {
  run: ['run the Playwright suite and have agents fix failing tests', () => import('./run.js')],
  heal: ['heal the tests that failed on other machines, such as in shards', () => import('./heal.js')],
  verify: [
    'prove a fix that you or any agent made: green with it, red without it, no test weakened',
    () => import('./verify.js'),
  ],
  classify: [
    'classify a failure given as text, and show the deciding evidence',
    () => import('./classify.js'),
  ],
  blame: [
    'find the change that broke a test by running it with changes reverted; starts no agent',
    () => import('./blame.js'),
  ],
  flaky: [
    'find flaky tests, explain why each one is flaky, and have agents fix it',
    () => import('./flaky.js'),
  ],
  inspect: [
    'show the evidence for a failure of an earlier run and why it got its class',
    () => import('./inspect.js'),
  ],
  report: ['write the report of an earlier run as a single HTML file', () => import('./report.js')],
  guard: ['show how the changes since a commit affect the tests; runs no tests', () => import('./guard.js')],
  undo: ['revert all changes of a run, except in files that have changed since', () => import('./undo.js')],
  escalations: ['list, show and answer open questions', () => import('./escalations.js')],
  init: [
    'set up this project: agents.yaml, five slash commands, a skill, an ignore entry',
    () => import('./init.js'),
  ],
  doctor: [
    'check everything that a run needs before its first test; calls no model',
    () => import('./doctor.js'),
  ],
  publish: ["in CI: show a run's result in its pull or merge request", () => import('./publish.js')],
  mcp: ['serve self-heal to a coding agent, over the Model Context Protocol', () => import('./mcp.js')],
  ui: ['follow the newest run in a browser, and answer open questions', () => import('./ui.js')],
};

/** Commands that do not use `.self-heal`, and `doctor`, which itself reports problems with it. */
const statelessCommands = ['classify', 'guard', 'init', 'doctor', 'publish'];

/** The names of all commands. */
export const commandNames: readonly string[] = Object.keys(commands);

/**
 * Creates the command line with commander. Loads only the file of the called command, or of the command whose help is printed. Wrong usage throws
 * a `CommanderError` after its message was printed.
 */
export async function createProgram(argv: readonly string[]): Promise<Command> {
  const program = new Command('self-heal')
    .description(
      'Runs a Playwright suite and hands each failure to the right coding agent. Only a passing re-run counts as a fix.',
    )
    .version(readOwnVersion())
    .showHelpAfterError('(self-heal --help lists the commands and flags)')
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
    .hook('preAction', (_, command) =>
      statelessCommands.includes(command.name()) ? undefined : checkState(),
    );
  const calledName = argv[0] === 'help' ? argv[1] : argv[0];
  for (const [name, [description, load]] of Object.entries(commands)) {
    const command = new Command(name).description(description);
    program.addCommand(copySettings(program, name === calledName ? (await load()).define(command) : command));
  }
  // A command's own help lists its arguments and flags.
  return program.configureHelp({ subcommandTerm: (command) => command.name() });
}

function copySettings(program: Command, command: Command, name = `self-heal ${command.name()}`): Command {
  for (const subcommand of command.commands)
    copySettings(program, subcommand, `${name} ${subcommand.name()}`);
  return command.copyInheritedSettings(program).showHelpAfterError(`(${name} --help lists the flags)`);
}

async function checkState(): Promise<void> {
  const problem = await findStateProblem(process.cwd());
  if (!problem) return;
  const { writeProblem } = await import('../outputs/write-reports.js');
  await writeProblem(problem, { env: process.env });
  throw new StateRefused(problem);
}
