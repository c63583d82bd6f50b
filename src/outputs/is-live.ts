/** A stream that may be a terminal; `columns` is 0 if the terminal does not know its size, as often under `expect` or `docker exec -t`. */
export interface MaybeTerminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Whether standard error may be redrawn: it is a terminal of a known size, and plain lines were not requested (CL-6). */
export function isLive(env: NodeJS.ProcessEnv, { isTTY, columns }: MaybeTerminal): boolean {
  const plain = ['CI', 'NO_COLOR'].some((name) => (env[name] ?? '') !== '' && env[name] !== 'false');
  // Without a width, ora would clear an infinite number of lines.
  return isTTY === true && columns !== 0 && !plain && env['TERM'] !== 'dumb';
}
