import chalk, { Chalk, chalkStderr, type ChalkInstance } from 'chalk';

/** No color at all. */
const unpainted: ChalkInstance = new Chalk({ level: 0 });

/**
 * Returns the colors for standard error; none with NO_COLOR (https://no-color.org), unless FORCE_COLOR is set. Use only red, green, magenta,
 * bold and dim: yellow, cyan and white are unreadable on a light background, blue and black on a dark one. No color carries meaning that
 * the words next to it do not.
 */
export function paletteFor(env: NodeJS.ProcessEnv): ChalkInstance {
  return isRefused(env) ? unpainted : chalkStderr;
}

/** Returns the colors for standard output. */
export function paletteForData(env: NodeJS.ProcessEnv): ChalkInstance {
  return isRefused(env) ? unpainted : chalk;
}

function isRefused(env: NodeJS.ProcessEnv): boolean {
  return (env['NO_COLOR'] ?? '') !== '' && (env['FORCE_COLOR'] ?? '') === '';
}
