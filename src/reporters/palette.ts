import { Chalk, chalkStderr, type ChalkInstance } from 'chalk';

/** Colours for standard error; none with NO_COLOR (https://no-color.org), unless FORCE_COLOR asks for them. */
export function paletteFor(env: NodeJS.ProcessEnv): ChalkInstance {
  const refused = (env['NO_COLOR'] ?? '') !== '' && (env['FORCE_COLOR'] ?? '') === '';
  return refused ? new Chalk({ level: 0 }) : chalkStderr;
}
