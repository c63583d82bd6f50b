import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { followReport } from '../../../src/playwright/report-state.js';
import type { ReportLine } from '../../../src/playwright/report-format.js';
import { tempDir } from '../../rig/temp-dir.js';

it('CL-4 passes on all lines since its last look in one call, without a torn last line', async () => {
  const file = path.join(tempDir(), 'report.ndjson');
  const ended = (n: number) => `${JSON.stringify({ type: 'progress', done: n, failed: 0, test: '' })}\n`;
  writeFileSync(file, [1, 2, 3].map(ended).join(''));
  const over = new AbortController();
  const pieces: (readonly ReportLine[])[] = [];
  await followReport(file, { finished: over.signal, pollMs: 1 }, (lines) => {
    if (pieces.push(lines) > 1) return;
    appendFileSync(file, `${ended(4)}${ended(5)}{"type":"torn`);
    over.abort();
  });
  expect(pieces.map((lines) => lines.map((line) => line.type === 'progress' && line.done))).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

it('CL-5 passes over a line that was torn by a full disk, and the rest of the report counts', async () => {
  const file = path.join(tempDir(), 'report.ndjson');
  const hello = '{"type":"hello"}\n';
  writeFileSync(file, `${hello}{"type":"failed-try","fail${hello}${hello}`);
  const over = new AbortController();
  over.abort();
  const types: string[] = [];
  await followReport(file, { finished: over.signal, pollMs: 1 }, (lines) =>
    types.push(...lines.map(({ type }) => type)),
  );
  expect(types).toEqual(['hello', 'hello']);
});
