import { Command } from 'commander';
import { blameCommand } from './blame-command.js';
import { classifyCommand } from './classify-command.js';
import { doctorCommand } from './doctor-command.js';
import { escalationsCommand } from './escalations-command.js';
import { guardCommand } from './guard-command.js';
import { healCommand } from './heal-command.js';
import { initCommand } from './init-command.js';
import { inspectCommand } from './inspect-command.js';
import { reportCommand } from './report-command.js';
import { resumeCommand } from './resume-command.js';
import { runCommand } from './run-command.js';
import { uiCommand } from './ui-command.js';
import { undoCommand } from './undo-command.js';
import { stateProblem, StateRefused } from '../state-folder.js';
import { version } from '../version.js';

/** All commands, in the order of `--help`. */
const commands = [
  runCommand,
  healCommand,
  classifyCommand,
  blameCommand,
  inspectCommand,
  reportCommand,
  guardCommand,
  undoCommand,
  resumeCommand,
  escalationsCommand,
  initCommand,
  doctorCommand,
  uiCommand,
];

/** These do not use `.self-heal`, except for `doctor`, which says what is wrong with it. */
const stateless = ['classify', 'guard', 'init', 'doctor'];

/** Creates the command line for commander. Wrong usage throws a `CommanderError` after its message has been printed. */
export function createProgram(): Command {
  const program = new Command('self-heal')
    .description(
      'Runs a Playwright suite and hands each failure to the right coding agent. Only a passing re-run counts as a fix.',
    )
    .version(version())
    .showHelpAfterError('(self-heal --help lists the commands and flags)')
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
    .hook('preAction', (_, command) => (stateless.includes(command.name()) ? undefined : checkState()));
  for (const create of commands) program.addCommand(inherit(program, create()));
  return program;
}

function inherit(program: Command, command: Command, name = `self-heal ${command.name()}`): Command {
  for (const sub of command.commands) inherit(program, sub, `${name} ${sub.name()}`);
  return command.copyInheritedSettings(program).showHelpAfterError(`(${name} --help lists the flags)`);
}

async function checkState(): Promise<void> {
  const problem = await stateProblem(process.cwd());
  if (!problem) return;
  const { leaveProblem } = await import('../outputs/leave-reports.js');
  await leaveProblem(problem, { env: process.env, print: (line) => process.stderr.write(`${line}\n`) });
  throw new StateRefused(problem);
}
