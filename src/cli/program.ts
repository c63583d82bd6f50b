import { Command } from 'commander';
import { ownVersion } from '../own-files.js';
import { stateProblem, StateRefused } from '../state-folder.js';

/** All commands, in the order of `--help`. A command's file is loaded when the command is called. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run.js')).runCommand(),
  heal: async () => (await import('./heal.js')).healCommand(),
  verify: async () => (await import('./verify.js')).verifyCommand(),
  classify: async () => (await import('./classify.js')).classifyCommand(),
  blame: async () => (await import('./blame.js')).blameCommand(),
  flaky: async () => (await import('./flaky.js')).flakyCommand(),
  inspect: async () => (await import('./inspect.js')).inspectCommand(),
  report: async () => (await import('./report.js')).reportCommand(),
  guard: async () => (await import('./guard.js')).guardCommand(),
  undo: async () => (await import('./undo.js')).undoCommand(),
  resume: async () => (await import('./resume.js')).resumeCommand(),
  escalations: async () => (await import('./escalations.js')).escalationsCommand(),
  init: async () => (await import('./init.js')).initCommand(),
  doctor: async () => (await import('./doctor.js')).doctorCommand(),
  publish: async () => (await import('./publish.js')).publishCommand(),
  mcp: async () => (await import('./mcp.js')).mcpCommand(),
  ui: async () => (await import('./ui.js')).uiCommand(),
};

/** These do not use `.self-heal`, except for `doctor`, which says what is wrong with it. */
const stateless = ['classify', 'guard', 'init', 'doctor', 'publish'];

/**
 * Creates the command line for commander, with the one command that is called: none for `--version`; all if the first argument is none of
 * them, as in `--help` or for a typo. Wrong usage throws a `CommanderError` after its message has been printed.
 */
export async function createProgram(argv: readonly string[]): Promise<Command> {
  const program = new Command('self-heal')
    .description(
      'Runs a Playwright suite and hands each failure to the right coding agent. Only a passing re-run counts as a fix.',
    )
    .version(ownVersion())
    .showHelpAfterError('(self-heal --help lists the commands and flags)')
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
    .hook('preAction', (_, command) => (stateless.includes(command.name()) ? undefined : checkState()));
  const [first = ''] = argv;
  const all = /^(?:-V|--version)$/.test(first) ? [] : Object.entries(commands);
  const called = all.filter(([name]) => name === first);
  for (const [, create] of called.length > 0 ? called : all)
    program.addCommand(inherit(program, await create()));
  return program;
}

function inherit(program: Command, command: Command, name = `self-heal ${command.name()}`): Command {
  for (const sub of command.commands) inherit(program, sub, `${name} ${sub.name()}`);
  return command.copyInheritedSettings(program).showHelpAfterError(`(${name} --help lists the flags)`);
}

async function checkState(): Promise<void> {
  const problem = await stateProblem(process.cwd());
  if (!problem) return;
  const { writeProblem } = await import('../outputs/write-reports.js');
  await writeProblem(problem, { env: process.env, print: (line) => process.stderr.write(`${line}\n`) });
  throw new StateRefused(problem);
}
