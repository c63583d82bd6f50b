import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/model/evidence.js';
import { gatherEvidence } from '../../src/evidence/gather-evidence.js';
import { aRun, aTestFailure } from '../unit/evidence/rig/failures.js';
import { writeZip } from '../unit/evidence/rig/write-zip.js';

const recordings = join(import.meta.dirname, '../../fixtures/traces');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evidence-traces-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Gathers the evidence of a failure that left nothing but a trace. */
function gatherFrom(trace: string, limits = { console: 50, network: 50 }): Promise<Evidence> {
  const attachments = [{ name: 'trace', contentType: 'application/zip', path: trace }];
  const request = {
    failure: aTestFailure({ attachments }),
    run: aRun(),
    folder: join(folder, 'failures/1'),
    limits,
  };
  return gatherEvidence(request);
}

const contextOptions = JSON.stringify({
  version: 10,
  type: 'context-options',
  wallTime: 1e12,
  monotonicTime: 0,
});

function consoleLine(time: number, text: string): string {
  return JSON.stringify({ type: 'console', messageType: 'log', text, args: [], location: {}, time });
}

it.each(['format-7', 'format-8', 'format-10'])(
  'EV-2 EV-3 EV-4 EV-9 a real trace of %s yields its evidence, and no planted secret',
  async (name) => {
    const evidence = await gatherFrom(join(recordings, `${name}.zip`));
    const { console, network, missing, screenshot, pageUrl, elements } = evidence;
    expect(missing.filter((line) => line.includes('trace'))).toEqual([]);
    const order = console.find(({ text }) => text === 'order refused 500');
    const location = expect.stringMatching(/^http:\/\/127.0.0.1:\d+\/:11:13$/) as string;
    expect(order).toMatchObject({ type: 'error', location });
    const thrown = console.find(({ type }) => type === 'pageerror');
    expect(thrown?.text).toBe("TypeError: Cannot read properties of undefined (reading 'total')");
    expect(thrown?.stack).toContain('at document.querySelector.onclick (http://127.0.0.1:');
    // The day of the recording: the trace's own clock counts from the start of its process.
    expect(new Date(thrown?.time ?? 0).toISOString()).toMatch(/^2026-11-21T/);

    const kinds = network.map(({ method, status, resourceType }) => [method, status, resourceType]);
    expect(kinds).toContainEqual(['GET', 200, 'document']);
    const refused = network.find(({ status }) => status === 500);
    expect(refused).toMatchObject({
      method: 'POST',
      resourceType: 'fetch',
      durationMs: expect.any(Number),
      failure: null,
      requestBody: '{"user":"ann","password":"[masked: password]"}',
      responseBody: '{"message":"relation \\"orders\\" does not exist","code":"42P01"}',
      responseHeaders: { 'content-type': 'application/json' },
    });
    const unsafe = { status: null, failure: 'net::ERR_UNSAFE_PORT' };
    expect(network.find(({ url }) => url.endsWith('/away'))).toMatchObject(unsafe);

    const out = join(folder, 'failures/1');
    expect(screenshot).toBe(join(out, 'screenshot.jpg'));
    expect((await readFile(screenshot ?? '')).length).toBe(3776);
    expect(pageUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const button = { tag: 'button', text: 'Pay', label: '', attributes: { 'data-testid': 'pay' } };
    expect(elements).toContainEqual(button);

    const everything = JSON.stringify({ ...evidence, elements: null });
    expect(everything).toContain('"authorization":"[masked: value of authorization]"');
    expect(everything).toContain('access_token=[masked: token]');
    expect(everything).not.toMatch(/planted-\w+/);
  },
);

describe('a broken trace', () => {
  const whole = join(recordings, 'format-10.zip');

  it.each([
    ['that is empty', () => Buffer.alloc(0)],
    ['that is not a zip', () => Buffer.from('<html>404</html>')],
    ['that was cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 500)],
  ])('EV-12 %s is reported as corrupt, and the other evidence is kept', async (_, change) => {
    const file = join(folder, 'trace.zip');
    await writeFile(file, change(await readFile(whole)));
    const evidence = await gatherFrom(file);
    expect(evidence.missing).toContainEqual(expect.stringMatching(/^trace\.zip is corrupt: ./));
    expect(evidence.errors).toHaveLength(1);
    expect(evidence.trace).toBe(file);
  });

  it('EV-12 with one damaged entry yields the others', async () => {
    const bytes = await readFile(whole);
    const at = bytes.indexOf('1-trace.network') + '1-trace.network'.length + 40;
    bytes.fill(0xff, at, at + 64);
    const file = join(folder, 'trace.zip');
    await writeFile(file, bytes);
    const evidence = await gatherFrom(file);
    expect(evidence.missing).toContainEqual(
      expect.stringMatching(/^1-trace\.network in the trace was only partly read: ./),
    );
    expect(evidence.console.map(({ type }) => type)).toContain('pageerror');
  });

  it('EV-12 that is missing is reported', async () => {
    const evidence = await gatherFrom(join(folder, 'nothing.zip'));
    expect(evidence.trace).toBeNull();
    expect(evidence.missing).toContain('trace.zip: it is no longer where Playwright wrote it');
  });

  it('EV-12 of a future format is read as far as possible, and reported as unknown', async () => {
    const file = join(folder, 'trace.zip');
    const future = contextOptions.replace('"version":10', '"version":99');
    writeZip(file, {
      '0-trace.trace': [future, consoleLine(1, 'hello'), '{"type":"console", torn'].join('\n'),
    });
    const evidence = await gatherFrom(file);
    expect(evidence.console.map(({ text }) => text)).toEqual(['hello']);
    expect(evidence.missing[0]).toContain('does not know its format version 99');
    expect(evidence.cut).toContainEqual('1 entries of the trace were too long or incomplete');
  });

  it('EV-11 with hostile entry names is read, and nothing is written under those names', async () => {
    const file = join(folder, 'trace.zip');
    const frame = { type: 'screencast-frame', file: '../../../escaped.jpeg', timestamp: 1 };
    writeZip(file, {
      '/etc/../../absolute.trace': consoleLine(1, 'first'),
      '../../../escaped.jpeg': Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
      '0-trace.trace': [contextOptions, consoleLine(2, 'second'), JSON.stringify(frame)].join('\n'),
    });
    const evidence = await gatherFrom(file);
    expect(evidence.console.map(({ text }) => text).sort()).toEqual(['first', 'second']);
    expect(evidence.screenshot).toBe(join(folder, 'failures/1/screenshot.jpg'));
    expect(readdirSync(folder, { recursive: true }).map(String).sort()).toEqual([
      'failures',
      'failures/1',
      'failures/1/screenshot.jpg',
      'trace.zip',
    ]);
  });
});

describe('a huge trace', () => {
  it('EV-11 yields the last of 250,000 console lines and the first page error', async () => {
    const pageError = {
      type: 'event',
      time: 0,
      method: 'pageError',
      params: { error: { error: { name: 'TypeError', message: 'the cause' } } },
    };
    const lines = [contextOptions, JSON.stringify(pageError)];
    for (let time = 1; time <= 250_000; time += 1)
      lines.push(consoleLine(time, `line ${time} ${'.'.repeat(60)}`));
    const file = join(folder, 'trace.zip');
    writeZip(file, { '0-trace.trace': lines.join('\n') });
    const { console, cut } = await gatherFrom(file, { console: 10, network: 10 });
    expect(console).toHaveLength(10);
    expect(console[0]).toMatchObject({ type: 'pageerror', text: 'TypeError: the cause' });
    expect(console.at(-1)?.text).toContain('line 250000');
    expect(cut).toContainEqual('10 of 250001 console entries were kept');
  });

  it('EV-11 yields the beginning of a console entry of 20 MB', async () => {
    const file = join(folder, 'trace.zip');
    const lines = [
      contextOptions,
      consoleLine(1, `start "${'é'.repeat(10_000_000)}`),
      consoleLine(2, 'next'),
    ];
    writeZip(file, { '0-trace.trace': lines.join('\n') });
    const { console } = await gatherFrom(file);
    expect(console.map(({ text }) => text.slice(0, 7))).toEqual(['start "', 'next']);
    expect(Buffer.byteLength(console[0]?.text ?? '')).toBeLessThanOrEqual(8192);
  });

  it('EV-11 that is a zip bomb is read only in part, and says so', async () => {
    const file = join(folder, 'trace.zip');
    writeZip(file, {
      '0-trace.trace': Buffer.concat([
        Buffer.from(`${contextOptions}\n${consoleLine(1, 'before')}\n`),
        Buffer.alloc(100 * 1024 * 1024, '\n'),
        Buffer.from(`${consoleLine(2, 'behind')}\n`),
      ]),
      '1-trace.trace': [contextOptions, consoleLine(3, 'beside')].join('\n'),
    });
    const evidence = await gatherFrom(file);
    expect(evidence.console.map(({ text }) => text)).toEqual(['before', 'beside']);
    expect(evidence.cut).toContainEqual(
      expect.stringMatching(/^0-trace\.trace in the trace was only partly read: it inflates to more than/),
    );
  });

  it('EV-11 yields the beginning of a body of 5 MB', async () => {
    const file = join(folder, 'trace.zip');
    const response = { status: 500, headers: [], content: { _file: 'resources/body.txt' } };
    const snapshot = {
      startedDateTime: '2026-11-21T07:00:00Z',
      time: 1,
      request: { method: 'GET', url: '/' },
      response,
    };
    writeZip(file, {
      '0-trace.network': JSON.stringify({ type: 'resource-snapshot', snapshot }),
      'resources/body.txt': `Error: first${'x'.repeat(5_000_000)}`,
    });
    const { network, cut } = await gatherFrom(file);
    expect(network[0]?.responseBody).toMatch(/^Error: first/);
    expect(Buffer.byteLength(network[0]?.responseBody ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(cut).toContainEqual('a request or response body was longer than 16384 bytes and was cut');
  });
});
