import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/diagnose/classify.js';
import { findBrokenBuild, isStillBroken } from '../../../src/playwright/broken-build.js';
import type { ReportLine } from '../../../src/playwright/report-format.js';
import { addLine, createEmptyReport, followReport } from '../../../src/playwright/report-state.js';
import {
  findUnusableFlag,
  listInteractiveVariables,
  createUnattendedEnv,
} from '../../../src/playwright/unattended.js';
import { aDiagnosed, aTestFailure, anError, anEvidence } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const startedAt = 1_700_000_000_000;
const line = '[vite] (ssr) Error when evaluating SSR module /a.svelte: /shop/a.svelte:9:0 no such element';

/** A log of `[seconds after the start, text]`. */
function log(...lines: readonly (readonly [at: number, text: string])[]): string {
  return lines.map(([at, text]) => `${startedAt + at * 1000} ${text}\n`).join('');
}

function isBrokenAfter(seconds: number, text: string): boolean {
  return isStillBroken(text, line, { startedAt, now: startedAt + seconds * 1000 });
}

describe('a web server that a build error keeps from starting', () => {
  const output = [
    [1, 'ready in 553 ms'],
    [4, `5:06:11 PM ${line.replace('/shop', '/elsewhere/shop')}`],
    [4, '[500] GET /'],
    [13, '[500] GET /'],
  ] as const;

  it.each([
    ['has said nothing new for ten seconds', 14, log(...output), true],
    ['has had less than ten seconds to say something new', 13.9, log(...output), false],
    ['has said something new since', 20, log(...output, [15, 'page reload src/a.svelte']), false],
    ['took long to say it, and has had as long again', 60, log([30, line]), true],
  ])('CS-10 is still broken (or not) when it %s', (_, seconds, text, broken) => {
    expect(isBrokenAfter(seconds, text)).toBe(broken);
  });

  const timedOut = anError('Error: Timed out waiting 60000ms from config.webServer.');
  const failed = (error: typeof timedOut, serverOutput: string) => {
    const evidence = anEvidence({ errors: [error], serverOutput });
    const failure = { scope: 'suite', errors: [error], stderr: '' } as const;
    return findBrokenBuild(aDiagnosed({ failure, evidence, diagnosis: classify(evidence) }));
  };

  it('CS-10 is recognized by its output', () => {
    expect(failed(timedOut, `${line}\n  Plugin: svelte:compile`)).toEqual({ error: timedOut, line });
  });

  it.each([
    ['waits for something else', timedOut, 'Error: connect ECONNREFUSED 127.0.0.1:5432'],
    [
      'has ended',
      anError('Error: Process from config.webServer was not able to start. Exit code: 1'),
      `${line}\n  Plugin: a`,
    ],
  ])('CS-10 is not one that %s', (_, error, output) => {
    expect(failed(error, output)).toBeNull();
  });
});

it('CL-4 passes on all lines since the last read in one call, without an incomplete line', async () => {
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

it('CL-5 skips a line that a full disk tore, and reads the rest of the report', async () => {
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

it('EV-1 the first failed try of a test gives the reason, even if a later one was traced', () => {
  const trace = { name: 'trace', contentType: 'application/zip', path: '/results/trace.zip' };
  const state = createEmptyReport();
  const tries = [
    aTestFailure({ retry: 0, errors: [anError('Error: connect ECONNREFUSED 127.0.0.1:5602')] }),
    aTestFailure({ retry: 1, errors: [anError('Error: duplicate key value')], attachments: [trace] }),
  ];
  for (const failure of tries) addLine(state, { type: 'failed-try', failure });
  expect([...state.failedTries.values()]).toEqual([tries[0]]);
});

describe('an unattended Playwright', () => {
  it.each([['--ui'], ['--debug'], ['--list']])('CL-4 refuses %s after --', (...words) => {
    expect(findUnusableFlag(['--no-deps', ...words])).toMatchObject({ kind: 'usage' });
  });

  it('CL-1 passes on every other argument', () => {
    expect(findUnusableFlag(['--no-deps', '--update-snapshots=all', 'ui.spec.ts', 'debug'])).toBeNull();
  });

  it('CL-4 names and removes the variables that would make it wait', () => {
    const env = { PWDEBUG: 'console', PWPAUSE: '1', PWTEST_WATCH: '', HOME: '/home/me' };
    expect(listInteractiveVariables(env)).toEqual(['PWDEBUG', 'PWPAUSE']);
    expect(listInteractiveVariables({ PWDEBUG: '0' })).toEqual([]);
    expect(createUnattendedEnv({ ...env, PLAYWRIGHT_HTML_OPEN: 'always' })).toEqual({
      HOME: '/home/me',
      PLAYWRIGHT_HTML_OPEN: 'never',
      PW_TEST_HTML_REPORT_OPEN: 'never',
    });
  });
});
