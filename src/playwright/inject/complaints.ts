import fs from 'node:fs';
import path from 'node:path';
import type { ConsoleEntry, NetworkEntry } from '../../core/evidence.js';
import { runFiles } from '../report-format.js';
import { dir } from './run-folder.js';

const mostPerTest = 50;
const mostPerWorker = 2_000;
const maxText = 500;
let left = mostPerWorker;

/** The console errors of one test, and its requests that failed or were redirected. */
interface Complaints {
  readonly test: string;
  readonly console: readonly Pick<ConsoleEntry, 'text'>[];
  readonly requests: readonly Pick<NetworkEntry, 'method' | 'url' | 'resourceType' | 'status' | 'failure'>[];
}

/**
 * Records the complaints of a test, and how often each occurred. A complaint is telling only if the tests that have it
 * tend to fail, so passing tests are recorded, too. One bounded append for each test with complaints keeps the cost low
 * for suites of any size.
 */
export function noteComplaints({ test, console, requests }: Complaints): void {
  const lines = [
    ...console.map(({ text }) => JSON.stringify({ console: text.slice(0, maxText) })),
    ...requests.map(({ method, url, resourceType, status, failure }) =>
      JSON.stringify({ method, url: url.slice(0, maxText), resourceType, status, failure }),
    ),
  ];
  const times = new Map<string, number>();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  const noted = [...times].slice(0, Math.min(mostPerTest, left));
  if (!dir || noted.length === 0) return;
  left -= noted.length;
  const id = JSON.stringify(test);
  const text = noted.map(([line, times]) => `{"test":${id},"times":${times},"complaint":${line}}\n`);
  fs.appendFileSync(path.join(dir, runFiles.complaints), text.join(''));
}
