/** Whether standard error may be redrawn: it is a terminal, and plain lines were not requested (CL-6). */
export function isLive(env: NodeJS.ProcessEnv, isTTY: boolean | undefined): boolean {
  const plain = ['CI', 'NO_COLOR'].some((name) => (env[name] ?? '') !== '' && env[name] !== 'false');
  return isTTY === true && !plain && env['TERM'] !== 'dumb';
}
