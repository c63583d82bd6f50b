const path = require('node:path') as typeof import('node:path');

/**
 * What is added to `NODE_OPTIONS` for workers. Node reads a quoted value with backslash escapes there, so that a path
 * with spaces or backslashes survives: https://nodejs.org/api/cli.html#node_optionsoptions.
 */
const preloadOption = `--require ${JSON.stringify(path.join(__dirname, 'capture.cjs'))}`;

/** Takes our addition away again: processes that a test starts are none of our business. */
function withdrawPreload(): void {
  const rest = (process.env['NODE_OPTIONS'] ?? '').replace(preloadOption, '').trim();
  if (rest === '') delete process.env['NODE_OPTIONS'];
  else process.env['NODE_OPTIONS'] = rest;
}

const api = { preloadOption, withdrawPreload };
module.exports = api;
export type Api = typeof api;
