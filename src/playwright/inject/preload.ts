import path from 'node:path';

/**
 * The option to add to `NODE_OPTIONS` for workers. Node reads quoted values there with backslash escapes, so paths with
 * spaces or backslashes work: https://nodejs.org/api/cli.html#node_optionsoptions.
 */
export const preloadOption = `--require ${JSON.stringify(path.join(import.meta.dirname, 'worker-output.cjs'))}`;

/** Removes the option again, so that processes that a test starts do not inherit it. */
export function withdrawPreload(): void {
  const rest = (process.env['NODE_OPTIONS'] ?? '').replace(preloadOption, '').trim();
  if (rest === '') delete process.env['NODE_OPTIONS'];
  else process.env['NODE_OPTIONS'] = rest;
}
