import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { createAction } from './end-command.js';
import { exitCodes } from '../model/exit-codes.js';

const explanation = `
Lets your own coding agent run the tests, read the evidence, prove its fix and
find the change to blame. The server speaks the Model Context Protocol on
standard input and output.

  self-heal init --mcp                          adds it to .mcp.json
  claude mcp add self-heal -- npx self-heal mcp
Tools: run_tests, get_failure, check_fix, blame, open_questions, answer_question`;

/** `self-heal mcp`: serves self-heal to a developer's own coding agent (MC-1). */
export function define(command: Command): Command {
  return command.addHelpText('after', explanation).action(createAction(runMcp));
}

/** Serves until the client ends the connection, then ends all work in progress. */
async function runMcp(): Promise<number> {
  const { serveTools: serve } = await import('../clients/mcp/serve.js');
  const closing = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => closing.abort());
  process.stdin.once('end', () => closing.abort()).once('close', () => closing.abort());
  await serve({ input: process.stdin, output: reserveStdout(), closing: closing.signal });
  return exitCodes.green;
}

/** Reserves standard output for the protocol; all other output goes to standard error. */
function reserveStdout(): Writable {
  const writeToStdout = process.stdout.write.bind(process.stdout);
  const output = new Writable({
    write: (chunk: Buffer, _, done) => void writeToStdout(chunk, () => done()),
  });
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return output;
}
