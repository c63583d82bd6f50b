import type { ConsoleEntry, NetworkEntry } from '../../core/evidence.js';

const fs = require('node:fs') as typeof import('node:fs');
const path = require('node:path') as typeof import('node:path');
const { dir } = require('./run-folder.cjs') as import('./run-folder.cjs').Api;

const mostPerWorker = 200;
const maxText = 500;
const told = new Set<string>();

/**
 * Notes what a passing test's pages complained of: what happens there too decides nothing in a failing one. Each complaint is
 * written once by each worker, so that a suite of any size costs next to nothing.
 */
function notePassing(
  console: readonly Pick<ConsoleEntry, 'text'>[],
  requests: readonly Pick<NetworkEntry, 'method' | 'url' | 'status' | 'failure'>[],
): void {
  const lines = [
    ...console.map(({ text }) => JSON.stringify({ console: text.slice(0, maxText) })),
    ...requests.map(({ method, url, status, failure }) =>
      JSON.stringify({ method, url: url.slice(0, maxText), status, failure }),
    ),
  ];
  const fresh = [...new Set(lines)].filter((line) => !told.has(line)).slice(0, mostPerWorker - told.size);
  if (!dir || fresh.length === 0) return;
  for (const line of fresh) told.add(line);
  fs.appendFileSync(path.join(dir, 'passing.ndjson'), `${fresh.join('\n')}\n`);
}

const api = { notePassing };
module.exports = api;
export type Api = typeof api;
