import { Command, CommanderError } from 'commander';
import { exitCodes, type Problem } from '../problem.js';
import { blameCommand } from './blame-command.js';
import { classifyCommand } from './classify-command.js';
import { configCommand } from './config-command.js';
import { doctorCommand } from './doctor-command.js';
import { end } from './end.js';
import { escalationsCommand } from './escalations-command.js';
import { guardCommand } from './guard-command.js';
import { initCommand } from './init-command.js';
import { inspectCommand } from './inspect-command.js';
import { outliveClosedPipes } from './outlive-closed-pipes.js';
import { quarantineCommand } from './quarantine-command.js';
import { reportCommand } from './report-command.js';
import { resumeCommand } from './resume-command.js';
import { runCommand } from './run-command.js';
import { statsCommand } from './stats-command.js';
import { uiCommand } from './ui-command.js';
import { undoCommand } from './undo-command.js';
import { version } from './version.js';

/** A bug in self-heal itself (EX_SOFTWARE of sysexits.h). */
const EXIT_BUG = 70;

/**
 * The command line: the only composition root, and the only place that sets the exit code. Expected troubles are
 * `Problem`s with a remedy; what is thrown is a bug, caught here once.
 */
export async function main(argv: readonly string[]): Promise<void> {
  outliveClosedPipes(process.stdout, process.stderr);
  const program = new Command('self-heal')
    .description(
      'Runs a Playwright suite and has each failure fixed by the right coding agent. The re-run decides.',
    )
    .version(version())
    .showHelpAfterError('(self-heal --help lists the commands and flags)')
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) });
  program.addCommand(inherit(program, runCommand()));
  program.addCommand(inherit(program, classifyCommand()));
  program.addCommand(inherit(program, blameCommand()));
  program.addCommand(inherit(program, inspectCommand()));
  program.addCommand(inherit(program, reportCommand()));
  program.addCommand(inherit(program, guardCommand()));
  program.addCommand(inherit(program, undoCommand()));
  program.addCommand(inherit(program, resumeCommand()));
  program.addCommand(inherit(program, escalationsCommand()));
  program.addCommand(inherit(program, quarantineCommand()));
  program.addCommand(inherit(program, statsCommand()));
  program.addCommand(inherit(program, initCommand()));
  program.addCommand(inherit(program, doctorCommand()));
  program.addCommand(inherit(program, configCommand()));
  program.addCommand(inherit(program, uiCommand()));
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    endThrown(error);
  }
}

function inherit(program: Command, command: Command, name = `self-heal ${command.name()}`): Command {
  for (const sub of command.commands) inherit(program, sub, `${name} ${sub.name()}`);
  return command.copyInheritedSettings(program).showHelpAfterError(`(${name} --help lists the flags)`);
}

function endThrown(error: unknown): void {
  // Commander has said what is wrong, or printed the help or the version that was asked for.
  if (error instanceof CommanderError) {
    end(error.exitCode === 0 ? exitCodes.green : exitCodes.usage);
    return;
  }
  const problem = problemOfDisk(error);
  if (problem) {
    end(problem);
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`self-heal: this is a bug in self-heal, please report it\n\n${text}\n`);
  end(EXIT_BUG);
}

/** What the system says of a disk that takes no more, wherever something was to be written. */
function problemOfDisk(error: unknown): Problem | null {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EROFS') return null;
  const where = path === undefined ? '' : `: ${path}`;
  return {
    kind: 'folder-not-writable',
    message: code === 'EROFS' ? `The file system is read-only${where}` : `The disk is full${where}`,
    remedy:
      'Make room, and go on with npx self-heal resume. Nothing of yours is lost: what was begun in the project is finished or reverted first.',
  };
}
