// Measures how much memory it takes to gather huge evidence (EV-11): generates a trace of some 500 MB with a million console lines, and ten
// server logs of 8 MB, their limit, and gathers each in its own process.
// Usage: node bench/evidence-memory.mjs [--mb 500] [--lines 1000000]; exits 1 if a limit is exceeded.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { crc32, createDeflateRaw } from 'node:zlib';

/** How much memory gathering may add to that of a process that has only loaded the code, in MB. */
const limitMb = 150;
const startedAt = 1_795_000_000_000;

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '500' },
    lines: { type: 'string', default: '1000000' },
    gather: { type: 'string' },
  },
});

/** Runs in the child: gathers, and prints its own memory peak and what it found. */
async function gather({ module, failure, serverLog, folder }) {
  const { gatherEvidence } = await import(module);
  const run = { serverLog, rootDir: folder, problems: [], tests: [], failures: [] };
  const began = performance.now();
  const evidence =
    failure && (await gatherEvidence({ failure, run, folder, limits: { console: 50, network: 50 } }));
  const seconds = (performance.now() - began) / 1000;
  const found = evidence && {
    console: evidence.console.length,
    network: evidence.network.length,
    server: evidence.serverOutput.length,
    screenshot: evidence.screenshot !== null,
    missing: evidence.missing,
    cut: evidence.cut,
  };
  console.log(JSON.stringify({ peakMb: process.resourceUsage().maxRSS / 1024, seconds, found }));
}

async function compare() {
  // Imported here, so that the children, whose memory is measured, do without the bundler.
  const { bundleSrc } = await import('../scripts/bundle-src.mjs');
  const module = await bundleSrc('evidence/gather-evidence.ts');
  const folder = mkdtempSync(join(tmpdir(), 'evidence-memory-'));
  try {
    const baseline = measure('loaded only', { module, folder });
    const grown = [];
    for (const [name, make] of Object.entries({
      trace: writeTrace,
      'server log': writeServerLog,
    })) {
      const { file, request } = await make(folder);
      const size = Math.round(statSync(file).size / 1e6);
      grown.push(measure(`${name} of ${size} MB`, { module, folder, ...request }) - baseline);
      rmSync(file);
    }
    process.exitCode = Math.max(...grown) > limitMb ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function measure(name, { module, folder, failure = null, serverLog = join(folder, 'none.log') }) {
  const request = JSON.stringify({ module, failure, serverLog, folder: join(folder, 'out') });
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), '--gather', request], {
    encoding: 'utf8',
  });
  if (child.status !== 0) throw new Error(child.stderr);
  const { peakMb, seconds, found } = JSON.parse(child.stdout);
  console.log(
    `${name}: peak ${peakMb.toFixed(0)} MB in ${seconds.toFixed(1)} s`,
    found ? JSON.stringify(found) : '',
  );
  return peakMb;
}

function aFailure(fields) {
  return {
    scope: 'test',
    status: 'failed',
    errors: [{ message: 'Error: boom', stack: null, snippet: null, location: null, causes: [] }],
    failedStep: null,
    startedAt,
    durationMs: 60_000,
    attachments: [],
    ...fields,
  };
}

/** Writes a million console lines, and as many requests as pictures; incompressible pictures make up the requested size. */
async function writeTrace(folder) {
  const file = join(folder, 'trace.zip');
  const zip = new ZipWriter(file);
  const frames = Number(values.mb);
  await zip.add('0-trace.trace', traceLines(frames));
  await zip.add('0-trace.network', networkLines(frames));
  for (let at = 0; at < frames; at += 1) {
    const picture = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), randomBytes(1_000_000)]);
    await zip.add(`screencast/${at}.jpeg`, [picture]);
    await zip.add(`resources/${at}.json`, [Buffer.from(`{"message":"no ${at}"}`)]);
  }
  await zip.end();
  const attachments = [{ name: 'trace', contentType: 'application/zip', path: file }];
  return { file, request: { failure: aFailure({ attachments }) } };
}

function* traceLines(frames) {
  yield line({ version: 10, type: 'context-options', wallTime: startedAt, monotonicTime: 0 });
  const count = Number(values.lines);
  for (let time = 0; time < count; time += 1) {
    yield line({
      type: 'console',
      messageType: 'log',
      text: `tick ${time} ${'.'.repeat(80)}`,
      args: [],
      location: {},
      time,
    });
    if (time % Math.ceil(count / frames) === 0) yield line(domSnapshot(time));
  }
  for (let at = 0; at < frames; at += 1) {
    yield line({ type: 'screencast-frame', file: `screencast/${at}.jpeg`, timestamp: at });
  }
}

function domSnapshot(time) {
  const html = randomBytes(100_000).toString('base64');
  return {
    type: 'frame-snapshot',
    snapshot: { callId: `a@${time}`, frameUrl: 'http://x/', html, isMainFrame: true },
  };
}

function* networkLines(count) {
  for (let at = 0; at < count; at += 1) {
    const request = { method: 'POST', url: `http://x/${at}`, headers: [{ name: 'Accept', value: '*/*' }] };
    const response = { status: 500, headers: [], content: { _file: `resources/${at}.json` } };
    yield line({
      type: 'resource-snapshot',
      snapshot: { startedDateTime: new Date(startedAt + at), time: 1, request, response },
    });
  }
}

async function writeServerLog(folder) {
  const file = join(folder, 'server.log');
  await writeAll(file, serverLines());
  await mkdir(join(folder, 'servers'));
  for (let n = 1; n < 10; n += 1) await copyFile(file, join(folder, 'servers', `${n}.log`));
  return { file, request: { failure: aFailure({}), serverLog: file } };
}

function* serverLines() {
  for (let at = 0; at < 80_000; at += 1) yield `${startedAt - 60_000 + at} ${'.'.repeat(85)}\n`;
}

function line(value) {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

async function writeAll(file, chunks) {
  const out = createWriteStream(file);
  for (const chunk of chunks) if (!out.write(chunk)) await once(out, 'drain');
  out.end();
  await once(out, 'finish');
}

/** Writes a zip entry by entry without buffering any. Sizes follow the data, as in any streamed zip. */
class ZipWriter {
  #offset = 0;
  #directory = [];

  constructor(file) {
    this.out = createWriteStream(file);
  }

  async add(name, chunks) {
    const [offset, sizes] = [this.#offset, { crc: 0, deflated: 0, inflated: 0 }];
    await this.#write(
      Buffer.concat([u32(0x04034b50), header(name, { crc: 0, deflated: 0, inflated: 0 }), Buffer.from(name)]),
    );
    const deflate = createDeflateRaw({ level: 1 });
    const written = (async () => {
      for await (const chunk of deflate) {
        sizes.deflated += chunk.length;
        await this.#write(chunk);
      }
    })();
    for (const chunk of chunks) {
      sizes.crc = crc32(chunk, sizes.crc);
      sizes.inflated += chunk.length;
      if (!deflate.write(chunk)) await once(deflate, 'drain');
    }
    deflate.end();
    await written;
    await this.#write(
      Buffer.concat([u32(0x08074b50), u32(sizes.crc), u32(sizes.deflated), u32(sizes.inflated)]),
    );
    this.#directory.push(
      Buffer.concat([
        u32(0x02014b50),
        u16(20),
        header(name, sizes),
        Buffer.alloc(10),
        u32(offset),
        Buffer.from(name),
      ]),
    );
  }

  async end() {
    const directory = Buffer.concat(this.#directory);
    const count = u16(this.#directory.length);
    const end = [u32(0x06054b50), u32(0), count, count, u32(directory.length), u32(this.#offset), u16(0)];
    await this.#write(Buffer.concat([directory, ...end]));
    this.out.end();
    await once(this.out, 'finish');
  }

  async #write(bytes) {
    this.#offset += bytes.length;
    if (!this.out.write(bytes)) await once(this.out, 'drain');
  }
}

function header(name, { crc, deflated, inflated }) {
  const sizes = [u32(crc), u32(deflated), u32(inflated)];
  return Buffer.concat([u16(20), u16(8), u16(8), u32(0), ...sizes, u16(Buffer.byteLength(name)), u16(0)]);
}

function u16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

// At the end, since classes exist only after their declaration.
if (values.gather === undefined) await compare();
else await gather(JSON.parse(values.gather));
