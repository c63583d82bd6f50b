/** Whether a person can be asked: a terminal that can be redrawn on both sides, and no CI. Colours are no condition. */
export function canAsk(
  env: NodeJS.ProcessEnv,
  { stdin, stderr }: { readonly stdin: { isTTY?: boolean }; readonly stderr: { isTTY?: boolean } },
): boolean {
  const isCi = (env['CI'] ?? '') !== '' && env['CI'] !== 'false';
  return stdin.isTTY === true && stderr.isTTY === true && !isCi && env['TERM'] !== 'dumb';
}
