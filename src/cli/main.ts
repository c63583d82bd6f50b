import { CommanderError } from 'commander';
import { exitCodes } from '../model/exit-codes.js';
import { endCommand, exitOnUncaughtError, explainFileError } from './end-command.js';
import { createProgram } from './program.js';
import { ignoreClosedReaders } from '../outputs/streams.js';

/** Runs the command line. Expected problems are `Problem`s with a remedy; anything else that is thrown is a bug, caught only here. */
export async function main(argv: readonly string[]): Promise<void> {
  ignoreClosedReaders(process.stdout, process.stderr);
  exitOnUncaughtError(reportThrown);
  try {
    const program = await createProgram(argv);
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    reportThrown(error);
  }
}

function reportThrown(error: unknown): void {
  // Commander has already printed the mistake, the help or the version.
  if (error instanceof CommanderError) {
    endCommand(error.exitCode === 0 ? exitCodes.green : exitCodes.usage);
    return;
  }
  const problem = explainFileError(error);
  if (problem) {
    endCommand(problem);
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`self-heal: this is a bug in self-heal, please report it\n\n${text}\n`);
  endCommand(exitCodes.bug);
}
