import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type NetworkEntry, unanswered } from '../../src/model/evidence.js';
import type { Failure } from '../../src/model/failure.js';
import { createLogReader } from '../../src/evidence/server-output.js';
import { gatherEvidence } from '../../src/evidence/gather-evidence.js';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import { readLastTime, readLogEnds, readLogWindow } from '../../src/evidence/server-log.js';
import { aTest } from '../rig/builders.js';
import {
  anError,
  aRequest,
  aRun,
  aSuiteFailure,
  aTestFailure,
  startedAt,
} from '../unit/evidence/rig/failures.js';
import { writeTrace } from '../unit/evidence/rig/write-trace.js';

let folder: string;
let log: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evidence-log-'));
  log = join(folder, 'server.log');
});
afterEach(() => rm(folder, { recursive: true }));

function gather(failure: Failure, run: Partial<SuiteRun> = {}) {
  const limits = { console: 50, network: 50 };
  return gatherEvidence({
    failure,
    run: aRun({ serverLog: log, ...run }),
    folder: join(folder, 'failures/1'),
    limits,
  });
}

/** A failed test with a request that was sent at `from` and answered after `durationMs`. */
async function failing(durationMs: number, status = 500, from = 0) {
  return failingWith({ time: startedAt + from, durationMs, status, resourceType: 'api' });
}

async function failingWith(request: Partial<NetworkEntry>) {
  const network = [aRequest({ url: 'http://127.0.0.1/x', ...request })];
  return aTestFailure({ durationMs: 2_000, attachments: [writeTrace(folder, { network })] });
}

describe('logWindow', () => {
  it('EV-7 returns exactly the lines in the window, for any log', async () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 5 }),
      text: fc.stringMatching(/^[a-z ]{0,60}$/),
    });
    const window = fc.tuple(fc.integer({ min: -5, max: 120 }), fc.integer({ min: 0, max: 60 }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), window, async (steps, [from, length]) => {
        let time = startedAt;
        const lines = steps.map(({ wait, text }) => ({ time: (time += wait), text: `${text}.` }));
        await writeFile(log, lines.map((line) => `${line.time} ${line.text}\n`).join(''));
        const asked = { from: startedAt + from, to: startedAt + from + length };
        const expected = lines.filter((line) => line.time >= asked.from && line.time <= asked.to);
        expect(readLogWindow(await readFile(log), asked).text).toBe(
          expected.map(({ text }) => text).join('\n'),
        );
      }),
    );
  });

  it('EV-7 keeps lines without a timestamp that follow one with a timestamp', async () => {
    await writeFile(log, `${startedAt} Error: a\n    at b\n    at c\n${startedAt + 50} later\n`);
    const part = readLogWindow(await readFile(log), { from: startedAt, to: startedAt + 10 });
    expect(part.text).toBe('Error: a\n    at b\n    at c');
  });

  it('EV-11 reads the end of a long window in a log of 30 MB', async () => {
    const line = (at: number) => `${startedAt + at} line ${at} ${'.'.repeat(80)}`;
    await writeFile(log, `${Array.from({ length: 280_000 }, (_, at) => line(at)).join('\n')}\n`);
    const part = readLogWindow(await readFile(log), { from: startedAt + 1_000, to: startedAt + 200_000 });
    expect(part.text.split('\n').at(-1)).toMatch(/^line 200000 /);
    expect(part.text).toMatch(/^line \d+ \.{80}\n/);
    expect(part.cutBytes).toBeGreaterThan(10_000_000);
    expect(part.text.length).toBeLessThan(200_000);
    expect(readLastTime(await readFile(log))).toBe(startedAt + 279_999);
  });

  it('EV-11 survives one line of 5 MB', async () => {
    await writeFile(log, `${startedAt} a\n${startedAt + 1} ${'x'.repeat(5_000_000)}\n${startedAt + 2} b\n`);
    expect(readLogWindow(await readFile(log), { from: startedAt + 2, to: startedAt + 9 }).text).toBe('b');
    expect(readLogWindow(await readFile(log), { from: startedAt, to: startedAt }).text).toBe('a');
  });

  it('EV-7 returns both ends of a long log', async () => {
    await writeFile(
      log,
      `${startedAt} first\n${`${startedAt} ${'x'.repeat(100)}\n`.repeat(5_000)}${startedAt} last\n`,
    );
    const part = readLogEnds(await readFile(log));
    expect(part.text.startsWith('first\n')).toBe(true);
    expect(part.text.endsWith('\nlast')).toBe(true);
    expect(part.cutBytes).toBeGreaterThan(0);
  });
});

it('EV-7 the logs of a run are read once for all of its failures', async () => {
  await writeFile(log, `${startedAt} once\n`);
  const read = createLogReader(log);
  const [first] = await read();
  await writeFile(log, `${startedAt} again\n`);
  expect((await read())[0]).toBe(first);
});

describe("a test's server output", () => {
  it('EV-7 spans the test and two seconds after it', async () => {
    const lines = [-1, 0, 2_000, 4_000, 4_001].map((at) => `${startedAt + at} at ${at}\n`);
    await writeFile(log, lines.join(''));
    const { serverOutput } = await gather(aTestFailure({ durationMs: 2_000 }));
    expect(serverOutput).toBe('at 0\nat 2000\nat 4000');
  });

  it.each([
    [
      'a warning close to the response hides no error',
      'Warning: Error while requesting a font',
      'Error: no rates',
    ],
    ['an error close to the response is that of the request', 'Error: no such user', 'Error: no such user'],
  ])('EV-7 %s', async (_, beside, expected) => {
    await writeFile(log, `${startedAt + 10} Error: no rates\n${startedAt + 900} ${beside}\n`);
    const { serverOutput } = await gather(await failing(900));
    expect(serverOutput.split('\n')[0]).toBe(expected);
  });

  it('EV-7 ends with the test if the server has not answered it', async () => {
    await writeFile(log, `${startedAt + 900} slow\n${startedAt + 2_010} Error: no such user\n`);
    const request = { time: startedAt, durationMs: null, status: null, failure: unanswered };
    expect((await gather(await failingWith(request))).serverOutput).toBe('slow');
    expect((await gather(await failing(900))).serverOutput).toContain('no such user');
  });

  it.each([
    [
      'the server’s message, even if its proxy’s is closer to the response',
      [900, 500, 0],
      [[860, 'panic: no cart']],
      [900, 'panic: no cart'],
    ],
    [
      'the proxy’s message if the server’s is much older',
      [900, 500, 0],
      [[10, 'Error: no rates']],
      [900, 'http proxy error: /api'],
    ],
    [
      'the server’s message from just before the browser reported the request',
      [118, 500, 442],
      [[440, 'http: panic serving: index out of range']],
      [512, 'http: panic serving: index out of range'],
    ],
  ] as const)(
    'EV-7 the server output of a request is %s',
    async (_, [durationMs, status, from], said, [proxyAt, expected]) => {
      const proxy = `${startedAt + proxyAt} http proxy error: /api\nError: socket hang up\n`;
      await writeFile(log, said.map(([at, text]) => `${startedAt + at} ${text}\n`).join('') + proxy);
      const { serverOutput } = await gather(await failing(durationMs, status, from));
      expect(serverOutput.split('\n')[0]).toBe(expected);
    },
  );

  it('EV-7 begins before a request whose connection ended, since a panic prints its stack slowly', async () => {
    const said = [
      [380, "thread 'main' panicked at src/a.rs:4:5:"],
      [450, '   1: core::panicking::panic'],
      [740, 'http: superfluous call'],
    ];
    await writeFile(log, said.map(([at, text]) => `${startedAt + Number(at)} ${String(text)}\n`).join(''));
    const request = { time: startedAt + 450, status: null, failure: 'net::ERR_EMPTY_RESPONSE' };
    expect((await gather(await failingWith(request))).serverOutput).toBe(
      "thread 'main' panicked at src/a.rs:4:5:\n   1: core::panicking::panic",
    );
  });

  it('EV-12 is reported as missing if the server answers with an error and logs nothing', async () => {
    await writeFile(log, '');
    const noOutput =
      'no server output: the server answered with an error and wrote nothing, or this run did not start it';
    expect((await gather(await failing(70))).missing).toContain(noOutput);
    expect((await gather(await failing(70, 404))).missing).not.toContain(noOutput);
  });

  it('EV-7 is the error closest to the response of the failed request', async () => {
    const errors = ['users', 'orders', 'carts'].map((table) => `no such table: ${table}`);
    const times = [480, 520, 560];
    await writeFile(
      log,
      errors.map((error, n) => `${startedAt + (times[n] ?? 0)} Error: ${error}\n`).join(''),
    );
    const failed = async (durationMs: number, status = 500) => gather(await failing(durationMs, status, 450));
    expect((await failed(70)).serverOutput).toBe('Error: no such table: orders');
    expect((await failed(112)).serverOutput).toBe('Error: no such table: carts');
    expect((await failed(1_000)).serverOutput.split('\n')).toHaveLength(3);
    expect((await failed(70, 200)).serverOutput.split('\n')).toHaveLength(2);
  });

  it.each<[string, { at: number; green?: number; others?: boolean }, string[]]>([
    ['an error during its request', { at: 480 }, []],
    ['an error that passing tests have, too', { at: 480, green: 5_000 }, ['Error: no such table: users']],
    [
      'an error at another time, while other tests ran',
      { at: 1_500, others: true },
      ['Error: no such table: users'],
    ],
    ['an error at another time, if no other test ran', { at: 1_500 }, []],
    ['an error that a passing test had at the same time', { at: 480, green: 480, others: true }, []],
  ])('CS-7 EV-7 %s', async (_, { at, green, others }, ofOthers) => {
    const times = [at, ...(green === undefined || green === at ? [] : [green])];
    await writeFile(log, times.map((time) => `${startedAt + time} Error: no such table: users\n`).join(''));
    const failure = await failing(70, 200, 450);
    const beside = others
      ? [aTestFailure({ test: aTest('other'), startedAt: startedAt + 3_000, durationMs: 2_000 })]
      : [];
    const passing = green === undefined ? [] : [{ time: startedAt + green - 10, durationMs: 20 }];
    const evidence = await gatherEvidence({
      failure,
      run: aRun({ serverLog: log, failures: [failure, ...beside] }),
      folder: join(folder, 'failures/1'),
      limits: { console: 50, network: 50 },
      passing: [
        { test: { ...failure.test, id: 'green' }, errorCounts: new Map(), requests: passing, writes: [] },
      ],
    });
    expect(evidence.serverOutput).toBe('Error: no such table: users');
    expect(evidence.ofOthers ?? []).toEqual(ofOthers);
  });

  it('EV-7 comes from its worker’s servers, and shows what other servers wrote meanwhile', async () => {
    await writeFile(log, '');
    await mkdir(join(folder, 'servers'));
    await writeFile(join(folder, 'servers/0-11.log'), `${startedAt + 900} Error: no rates\n`);
    await writeFile(join(folder, 'servers/1-12.log'), `${startedAt + 899} Error: no such user\n`);
    const failure = await failing(900);
    const own = { outcome: 'unexpected', retries: 0, durationMs: 9 } as const;
    const tests = [{ ...own, test: failure.test, firstTry: { worker: 0, startedAt } }];
    const { serverOutput, serverLines, ofOthers } = await gather(failure, { tests });
    expect(serverOutput).toBe('Error: no rates');
    expect(serverLines?.map(({ text }) => text)).toEqual(['Error: no such user', 'Error: no rates']);
    expect(ofOthers).toEqual(['Error: no such user']);
  });

  it('EV-7 is the last output of a server that died before the test', async () => {
    await writeFile(log, `${startedAt - 90_000} long ago\n${startedAt - 5_000} TypeError: died\n`);
    const errors = [anError({ message: 'Error: page.goto: net::ERR_CONNECTION_REFUSED at http://x' })];
    expect((await gather(aTestFailure({ errors }))).serverOutput).toBe('TypeError: died');
    expect((await gather(aTestFailure())).serverOutput).toBe('');
  });

  it('EV-7 is the error that ended a Node server, even if its proxy complained later', async () => {
    const crash = 'TypeError: no cart\n    at add (/srv/cart.js:3:5)\n\n';
    const end = (text: string) => `${startedAt - 80_500} ${crash}${startedAt - 80_499} ${text}\n`;
    const refused = `${startedAt + 900} http proxy error: /api\nError: connect ECONNREFUSED 127.0.0.1:4310\n`;
    const first = async () => (await gather(await failing(900))).serverOutput.split('\n')[0];
    for (const text of ['Node.js v20.20.2', '[0] Node.js v24.1.0-nightly', 'server:dev: Node.js v22.0.0']) {
      await writeFile(log, `${startedAt - 90_000} ready\n${end(text)}${refused}`);
      expect(await first()).toBe('TypeError: no cart');
    }
    for (const earlier of [end('runs on Node.js v20.20.2 or newer'), end('Node.js version v20'), '']) {
      await writeFile(log, `${earlier}${refused}`);
      expect(await first()).toBe('http proxy error: /api');
    }
    await writeFile(log, `${end('Node.js v20.20.2')}${startedAt + 900} Error: no rates\n`);
    expect(await first()).toBe('Error: no rates');
  });

  it('EV-9, EV-10 is masked and stripped of control characters', async () => {
    await writeFile(log, `${startedAt} \u001b[31mpostgres://app:hunter2@db/shop\u001b[0m\u0000\n`);
    expect((await gather(aTestFailure())).serverOutput).toBe('postgres://app:[masked: password]@db/shop');
  });

  it('EV-11 is at most 32 KB, and the evidence says what was cut', async () => {
    await writeFile(log, `${startedAt} ${'x'.repeat(1_000)}\n`.repeat(100) + `${startedAt} the end\n`);
    const evidence = await gather(aTestFailure());
    expect(Buffer.byteLength(evidence.serverOutput)).toBeLessThanOrEqual(32 * 1024);
    expect(evidence.serverOutput.endsWith('the end')).toBe(true);
    expect(evidence.cut).toEqual(['the server output was longer than 32768 bytes and was cut']);
  });

  it('EV-12 is reported as missing if the log cannot be read', async () => {
    expect((await gather(aTestFailure())).missing).toContainEqual(
      expect.stringMatching(/^no server output: ENOENT/),
    );
  });
});

describe("a suite failure's server output", () => {
  it('EV-7 contains the build output and Playwright’s messages, without duplicates', async () => {
    await writeFile(log, `${startedAt} src/a.ts(1,2): error TS2322: Type 'string' is not assignable\n`);
    const stderr =
      '[WebServer] src/a.ts(1,2): error TS2322\nError: Process from config.webServer was not able to start.';
    const evidence = await gather(aSuiteFailure({ stderr }));
    expect(evidence.serverOutput).toBe(
      "src/a.ts(1,2): error TS2322: Type 'string' is not assignable\nError: Process from config.webServer was not able to start.",
    );
    expect(evidence.missing).toEqual([]);
  });

  it('EV-7 keeps the first error and the end of a long build, both ends of Playwright’s messages', async () => {
    await writeFile(
      log,
      `${startedAt} first error\n${`${startedAt} ${'x'.repeat(99)}\n`.repeat(2_000)}${startedAt} last\n`,
    );
    const { serverOutput } = await gather(
      aSuiteFailure({ stderr: `stderr begins${'y'.repeat(60_000)}stderr ends` }),
    );
    for (const part of ['first error', 'last', 'stderr begins', 'stderr ends'])
      expect(serverOutput).toContain(part);
    expect(Buffer.byteLength(serverOutput)).toBeLessThanOrEqual(32 * 1024);
  });

  it('EV-7 is missing if the web server was silent, which is reported with the time waited', async () => {
    await writeFile(log, '');
    const server = { command: 'node api.mjs', cwd: '.', url: 'http://127.0.0.1:4000/' };
    const { missing } = await gather(
      aSuiteFailure({
        errors: [anError({ message: 'Error: Timed out waiting 60000ms from config.webServer.' })],
        phase: { kind: 'web-server', at: null, servers: [server], file: null },
      }),
    );
    expect(missing).toContain(
      'no output from the web server: node api.mjs, awaited at http://127.0.0.1:4000/ wrote nothing in the 60 s that Playwright waited for it',
    );
  });

  it('EV-12 consists of Playwright’s messages if there is no log', async () => {
    const evidence = await gather(aSuiteFailure({ stderr: 'Error: config boom' }));
    expect(evidence.serverOutput).toBe('Error: config boom');
  });
});
