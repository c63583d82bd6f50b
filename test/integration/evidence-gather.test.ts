import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attachment, Failure } from '../../src/model/failure.js';
import { gatherEvidence } from '../../src/evidence/gather-evidence.js';
import { orWhenLong } from '../rig/long.js';
import {
  aConsoleEntry,
  anError,
  aRequest,
  aRun,
  aSuiteFailure,
  aTestFailure,
  startedAt,
} from '../unit/evidence/rig/failures.js';
import { writeTrace } from '../unit/evidence/rig/write-trace.js';
import { writeZip } from '../unit/evidence/rig/write-zip.js';

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 1, 2, 3]);
const otherPng = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 9, 9, 9]);
let folder: string;
let out: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evidence-gather-'));
  out = join(folder, 'failures/1');
  await write('server.log', '');
});
afterEach(() => rm(folder, { recursive: true }));

async function write(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

function gather(failure: Failure, limits = { console: 50, network: 50 }, into = out) {
  const run = aRun({ serverLog: join(folder, 'server.log') });
  return gatherEvidence({ failure, run, folder: into, limits });
}

async function attachment(name: string, contentType: string, content: string | Buffer): Promise<Attachment> {
  return { name, contentType, path: await write(`attached-${name}`, content) };
}

describe('the content of a trace', () => {
  it('EV-1, EV-2, EV-3, EV-4 is returned and written into the folder', async () => {
    await write('server.log', `${startedAt} GET /api/orders 500\n`);
    const trace = writeTrace(folder, {
      console: [
        aConsoleEntry({ type: 'pageerror', text: 'TypeError: x', stack: 'TypeError: x\n    at a.js:1:2' }),
      ],
      network: [aRequest({ status: 500, responseBody: '{"code":"42P01"}' })],
      page: { url: 'http://localhost:3000/', body: [['H1', {}, 'Basket']] },
      picture: png,
    });
    const evidence = await gather(
      aTestFailure({ attachments: [trace], failedStep: "Click getByRole('button')" }),
    );
    expect(evidence).toMatchObject({
      errors: [{ message: 'Error: boom' }],
      failedStep: "Click getByRole('button')",
      console: [{ type: 'pageerror', text: 'TypeError: x' }],
      network: [{ status: 500, responseBody: '{"code":"42P01"}' }],
      serverOutput: 'GET /api/orders 500',
      ariaSnapshot: '<h1>Basket',
      pageUrl: 'http://localhost:3000/',
      elements: [{ tag: 'h1', text: 'Basket' }],
      screenshot: join(out, 'screenshot.png'),
      trace: trace.path,
      missing: [],
      cut: [],
      rootDir: '/shop',
    });
    expect(evidence.serverLines).toEqual([{ time: startedAt, text: 'GET /api/orders 500' }]);
    expect(readdirSync(out).sort()).toEqual(['screenshot.png']);
    expect(await readFile(join(out, 'screenshot.png'))).toEqual(png);
  });

  it('EV-3, EV-4 is kept up to the limits', async () => {
    const trace = writeTrace(folder, {
      console: Array.from({ length: 30 }, (_, time) => aConsoleEntry({ time, text: `${time}` })),
      network: Array.from({ length: 30 }, (_, n) => aRequest({ time: startedAt + n, url: `http://x/${n}` })),
    });
    const evidence = await gather(aTestFailure({ attachments: [trace] }), { console: 2, network: 1 });
    expect(evidence.console.map(({ text }) => text)).toEqual(['28', '29']);
    expect(evidence.network.map(({ url }) => url)).toEqual(['http://x/29']);
    expect(evidence.cut).toEqual(['1 of 30 requests were kept', '2 of 30 console entries were kept']);
  });
});

describe('an attachment of Playwright', () => {
  it('EV-2 provides the screenshot of the failure; that of a trace is a moment older', async () => {
    const trace = writeTrace(folder, { picture: otherPng });
    const attachments = [trace, await attachment('screenshot', 'image/png', png)];
    const evidence = await gather(aTestFailure({ attachments }));
    expect(await readFile(evidence.screenshot ?? '')).toEqual(png);
  });

  it('EV-8, EV-10 provides the page snapshot without its instructions to AI readers', async () => {
    const markdown =
      '# Instructions\n\n- Explain why\n\n# Page snapshot\n\n```yaml\n- button "Pay" [ref=e2]\n```\n';
    const trace = writeTrace(folder, { page: { url: 'http://x/', body: [['B', {}, 'hidden by a style']] } });
    const attachments = [trace, await attachment('error-context', 'text/markdown', markdown)];
    const evidence = await gather(aTestFailure({ attachments }));
    expect(evidence.ariaSnapshot).toBe('- button "Pay"');
    expect(await readFile(join(out, 'aria.yml'), 'utf8')).toContain('- button "Pay"');
    expect(JSON.stringify(evidence)).not.toContain('Explain why');
  });

  it('EV-8 is replaced by the elements of the page if there is no snapshot', async () => {
    const markdown = '# Error details\n\n```yaml\n- status: Refused\n```\n\n# Test source\n';
    const context = await attachment('error-context', 'text/markdown', markdown);
    for (const [body, told] of [
      [['BUTTON', { 'data-testid': 'pay' }, 'Pay'], '<button data-testid="pay">Pay'],
      [['DIV', { id: 'root' }], ''],
    ] as const) {
      const trace = writeTrace(folder, { page: { url: 'http://x/', body: [body] } });
      const evidence = await gather(aTestFailure({ attachments: [trace, context] }));
      expect([evidence.ariaSnapshot, evidence.missing]).toEqual([told, []]);
    }
  });
});

describe('each text of the evidence', () => {
  it('EV-9, EV-10 is masked and stripped of control characters', async () => {
    const dirty = '\u001b[31mpassword=hunter2\u0000\u202e';
    const trace = writeTrace(folder, {
      console: [
        aConsoleEntry({ text: dirty, location: dirty, type: dirty }),
        aConsoleEntry({ type: 'pageerror', text: dirty, stack: dirty }),
      ],
      network: [
        aRequest({
          url: `http://x/?${dirty}`,
          method: dirty,
          resourceType: dirty,
          failure: dirty,
          requestHeaders: { authorization: 'hunter2', referer: dirty, [dirty]: 'x' },
          responseHeaders: { 'set-cookie': 'a=hunter2' },
          requestBody: dirty,
          responseBody: dirty,
        }),
      ],
      page: { url: `http://x/?${dirty}`, body: [dirty] },
    });
    await write('server.log', `${startedAt} ${dirty}\n`);
    const errors = [anError({ message: dirty, stack: dirty, snippet: dirty, causes: [dirty] })];
    const evidence = await gather(aTestFailure({ attachments: [trace], errors, failedStep: dirty }));
    const files = await Promise.all(readdirSync(out).map((file) => readFile(join(out, file), 'utf8')));
    // The elements of the page stay in memory.
    for (const text of [JSON.stringify({ ...evidence, elements: null }), ...files]) {
      expect(text).not.toContain('hunter2');
      for (const unseen of ['\u001b', '\u0000', '\u202e']) {
        expect(text).not.toContain(unseen);
        expect(text).not.toContain(JSON.stringify(unseen).slice(1, -1));
      }
    }
    const suite = await gather(aSuiteFailure({ stderr: dirty, errors }));
    expect(JSON.stringify(suite)).not.toContain('hunter2');
  });

  it('EV-11 is cut to its limit, and the evidence says so', async () => {
    const long = 'long text '.repeat(50_000);
    const errors = [anError({ message: long, stack: long, snippet: long, causes: [long] })];
    const evidence = await gather(aTestFailure({ errors: Array.from({ length: 25 }, () => errors).flat() }));
    const [error] = evidence.errors;
    expect(Buffer.byteLength(error?.message ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(Buffer.byteLength(error?.stack ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(Buffer.byteLength(error?.snippet ?? '')).toBeLessThanOrEqual(8 * 1024);
    expect(Buffer.byteLength(error?.causes[0] ?? '')).toBeLessThanOrEqual(4 * 1024);
    expect(evidence.cut).toEqual([
      '20 of 25 errors were kept',
      'an error message or stack was longer than 16384 bytes and was cut',
      'a code snippet was longer than 8192 bytes and was cut',
      'an error cause was longer than 4096 bytes and was cut',
    ]);
  });
});

describe('missing evidence', () => {
  it.each([
    [undefined, []],
    ['on', [expect.stringMatching(/^no trace: the worker ended/)]],
    ['own', [expect.stringMatching(/^no trace: a test of the run records its own/)]],
  ] as const)(
    'EV-12 is reported if a run that should have a trace has none: %s',
    async (tracing, missing) => {
      const serverLog = join(folder, 'server.log');
      const run = aRun({
        serverLog,
        ...(tracing ? { tracing } : {}),
        problems: ['the end was not reported'],
      });
      const limits = { console: 50, network: 50 };
      const evidence = await gatherEvidence({ failure: aTestFailure(), run, folder: out, limits });
      expect(evidence.missing).toEqual(['the end was not reported', ...missing]);
      expect(evidence.errors[0]?.message).toBe('Error: boom');
    },
  );

  it('EV-12 is reported for a screenshot that is not a picture', async () => {
    const attachments = [await attachment('screenshot', 'image/png', '<html>')];
    const evidence = await gather(aTestFailure({ attachments }));
    expect(evidence.screenshot).toBeNull();
    expect(evidence.missing).toEqual(['no screenshot: the file is not a picture']);
  });

  it('EV-12 is reported if the folder cannot be written, and the evidence is still returned', async () => {
    const trace = writeTrace(folder, { console: [aConsoleEntry()] });
    const evidence = await gather(
      aTestFailure({ attachments: [trace] }),
      undefined,
      join(folder, 'server.log', 'inside-a-file'),
    );
    expect(evidence.console).toHaveLength(1);
    expect(evidence.missing).toContainEqual(expect.stringMatching(/^the evidence folder: E/));
  });

  it('EV-12 never makes gathering reject, for any content of the trace and the log', async () => {
    const trace = await readFile(join(import.meta.dirname, '../../fixtures/traces/format-10.zip'));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 500 }).map((random) => Buffer.from(random)),
      fc.constant(trace).chain((good) =>
        fc
          .tuple(fc.nat(good.length - 1), fc.uint8Array({ minLength: 1, maxLength: 40 }))
          .map(([at, damage]) => {
            const copy = Buffer.from(good);
            copy.set(damage.subarray(0, copy.length - at), at);
            return copy;
          }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (traceBytes, logBytes) => {
        await write('server.log', logBytes);
        const attachments = [await attachment('trace', 'application/zip', traceBytes)];
        const evidence = await gather(aTestFailure({ attachments }));
        expect(evidence.errors).toHaveLength(1);
      }),
      { numRuns: orWhenLong(40, 150) },
    );
  });

  it('EV-12 never makes gathering reject, for any line of a trace', async () => {
    const types = fc.constantFrom(
      'before',
      'after',
      'log',
      'error',
      'console',
      'event',
      'resource-snapshot',
      'screencast-frame',
      'frame-snapshot',
      'context-options',
    );
    const line = fc.tuple(types, fc.jsonValue(), fc.jsonValue()).map(([type, one, other]) => {
      const named = {
        method: 'pageError',
        callId: one,
        snapshot: { html: other, frameId: 'f', isMainFrame: true, ...Object(one) },
        params: other,
        stack: one,
      };
      return JSON.stringify({ type, ...named, ...Object(other) });
    });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
        const file = join(folder, 'lines.zip');
        writeZip(file, { 'test.trace': lines.join('\n'), '0-trace.trace': lines.join('\n') });
        const attachments = [{ name: 'trace', contentType: 'application/zip', path: file }];
        const { errors, missing } = await gather(aTestFailure({ attachments }));
        expect(errors).toHaveLength(1);
        expect(missing.filter((one) => one.startsWith('trace.zip is corrupt'))).toEqual([]);
      }),
      { numRuns: orWhenLong(40, 150) },
    );
  });
});
