import type { ConsoleEntry, NetworkEntry } from '../../core/evidence.js';

const fs = require('node:fs') as typeof import('node:fs');
const path = require('node:path') as typeof import('node:path');
const { dir } = require('./run-folder.cjs') as import('./run-folder.cjs').Api;

const mostPerWorker = 200;
const maxText = 500;
/** How often one passing test had each complaint, at most. */
const told = new Map<string, number>();

/**
 * Notes what a passing test's pages complained of, and how often: what happens there too decides nothing in a failing one. A
 * worker writes a complaint again only where a test had it more often, so that a suite of any size costs next to nothing.
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
  const times = new Map<string, number>();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  const fresh = [...times].filter(
    ([line, count]) => count > (told.get(line) ?? (told.size < mostPerWorker ? 0 : count)),
  );
  if (!dir || fresh.length === 0) return;
  for (const [line, count] of fresh) told.set(line, count);
  const noted = fresh.map(([line, count]) => `{"times":${count},"complaint":${line}}\n`);
  fs.appendFileSync(path.join(dir, 'passing.ndjson'), noted.join(''));
}

const api = { notePassing };
module.exports = api;
export type Api = typeof api;
