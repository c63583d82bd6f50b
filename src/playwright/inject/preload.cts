const path = require('node:path') as typeof import('node:path');

/**
 * The option to add to `NODE_OPTIONS` for workers. Node reads quoted values there with backslash escapes, so paths with
 * spaces or backslashes work: https://nodejs.org/api/cli.html#node_optionsoptions.
 */
const preloadOption = `--require ${JSON.stringify(path.join(__dirname, 'capture.cjs'))}`;

/** Removes the option again, so that processes that a test starts do not inherit it. */
function withdrawPreload(): void {
  const rest = (process.env['NODE_OPTIONS'] ?? '').replace(preloadOption, '').trim();
  if (rest === '') delete process.env['NODE_OPTIONS'];
  else process.env['NODE_OPTIONS'] = rest;
}

const api = { preloadOption, withdrawPreload };
module.exports = api;
export type Api = typeof api;
