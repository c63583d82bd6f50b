import chalk, { Chalk, chalkStderr, type ChalkInstance } from 'chalk';

/** No colour at all. */
export const unpainted: ChalkInstance = new Chalk({ level: 0 });

/**
 * Colours for standard error; none with NO_COLOR (https://no-color.org), unless FORCE_COLOR asks for them. Red, green, magenta, bold and
 * dim are all that may be used: yellow, cyan and white cannot be read on a light background, nor blue and black on a dark one. No
 * colour says anything that its word does not say.
 */
export function paletteFor(env: NodeJS.ProcessEnv): ChalkInstance {
  return isRefused(env) ? unpainted : chalkStderr;
}

/** The same for standard output. */
export function paletteForData(env: NodeJS.ProcessEnv): ChalkInstance {
  return isRefused(env) ? unpainted : chalk;
}

function isRefused(env: NodeJS.ProcessEnv): boolean {
  return (env['NO_COLOR'] ?? '') !== '' && (env['FORCE_COLOR'] ?? '') === '';
}
