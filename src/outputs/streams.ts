import type { Writable } from 'node:stream';
import { logText } from '../visible-text.js';
import chalk, { type ChalkInstance, Chalk, chalkStderr } from 'chalk';

const unpainted: ChalkInstance = new Chalk({ level: 0 });

/**
 * Returns the colors for standard error; none with NO_COLOR (https://no-color.org), unless FORCE_COLOR is set. Use only red, green, magenta,
 * bold and dim: yellow, cyan and white are unreadable on a light background, blue and black on a dark one. The words alone must carry
 * the meaning.
 */
export function choosePalette(env: NodeJS.ProcessEnv): ChalkInstance {
  return refusesColor(env) ? unpainted : chalkStderr;
}

/** Returns the colors for standard output. */
export function choosePaletteForStdout(env: NodeJS.ProcessEnv): ChalkInstance {
  return refusesColor(env) ? unpainted : chalk;
}

function refusesColor(env: NodeJS.ProcessEnv): boolean {
  return (env['NO_COLOR'] ?? '') !== '' && (env['FORCE_COLOR'] ?? '') === '';
}

/**
 * True if a stream may be redrawn: it is a terminal of a known size, and plain lines were not requested (CL-6). `columns` is 0 if the terminal
 * does not know its size, as often under `expect` or `docker exec -t`.
 */
export function canRedraw(
  env: NodeJS.ProcessEnv,
  { isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number },
): boolean {
  const isPlain = ['CI', 'NO_COLOR'].some((name) => (env[name] ?? '') !== '' && env[name] !== 'false');
  // Without a width, ora would clear an infinite number of lines.
  return isTTY === true && columns !== 0 && !isPlain && env['TERM'] !== 'dumb';
}

/** Prints a message that is not an event, as a line on standard error. */
export function printMessage(text: string): void {
  process.stderr.write(`self-heal ${logText(text)}\n`);
}

/** The error codes of a write to a closed pipe or terminal window. */
const closedReaderCodes = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED', 'ECONNRESET']);

/**
 * Ignores that nobody reads the output any more, so that `self-heal run | head -1` still writes its report and exits with the right code. Any other
 * stream error is a bug and is thrown.
 */
export function ignoreClosedReaders(...streams: readonly Writable[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!closedReaderCodes.has(error.code ?? '')) throw error;
    });
  }
}
