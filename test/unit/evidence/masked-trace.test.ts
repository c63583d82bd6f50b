import path from 'node:path';
import { expect, it } from 'vitest';
import { copyMasked, copyTrace } from '../../../src/evidence/trace/masked-trace.js';
import { redactorOf } from '../../../src/secrets/redactor.js';
import { tempDir } from '../../rig/temp-dir.js';
import { filesOfZip } from '../../rig/zip-files.js';
import { writeZip } from './rig/write-zip.js';

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1');

/** Writes a trace, masks it and returns the copy's files as text. */
async function masked(files: Record<string, string | Buffer>, known: Record<string, string> = {}) {
  const folder = tempDir();
  const [from, to] = [path.join(folder, 'raw.zip'), path.join(folder, 'trace.zip')];
  writeZip(from, files);
  const values = Object.entries(known).map(([name, value]) => ({ name, value }));
  await copyMasked(from, to, redactorOf(values));
  return filesOf(to);
}

async function filesOf(zip: string): Promise<Record<string, string>> {
  const files = Object.entries(await filesOfZip(zip));
  return Object.fromEntries(files.map(([name, content]) => [name, content.toString('latin1')]));
}

const lines = (...events: unknown[]) => events.map((event) => JSON.stringify(event)).join('\n');

it('EV-9 masks what fields of a trace hold by their names, and known values anywhere', async () => {
  const header = (name: string, value: string) => ({ name, value });
  const files = await masked(
    {
      'test.trace': lines(
        { type: 'before', params: { selector: 'internal:label="Password"i', value: 'typed it' } },
        { type: 'before', params: { locator: "getByLabel('Password')", value: 'typed it' } },
        { type: 'log', message: '  fill("typed it")' },
        { type: 'stdout', text: 'the plain-word is out' },
      ),
      '0-trace.trace': lines({
        snapshot: { html: ['INPUT', { type: 'password', value: 'first', __playwright_value_: 'typed it' }] },
      }),
      '0-trace.network': lines({
        request: { headers: [header('Cookie', 'a=opensesame'), header('accept', 'text/html')] },
      }),
    },
    { SHOP: 'plain-word' },
  );
  const all = Object.values(files).join('\n');
  expect(all).not.toMatch(/typed it|first|opensesame|plain-word/);
  expect(all).toContain('text/html');
  for (const line of all.split('\n').filter(Boolean)) expect(() => JSON.parse(line)).not.toThrow();
});

it('EV-13 keeps what connects a trace: ids, the names of its files, pictures and other text', async () => {
  const sha = '66c1bde112a00a32dbd5343852209f7cb8f0d249';
  const before = {
    type: 'before',
    callId: 'call@12',
    params: { url: `/a?v=${sha}` },
    pageId: `page@${sha.slice(8)}`,
  };
  const raw = {
    'test.trace': `${lines(before, { type: 'resource-snapshot', snapshot: { _file: `resources/${sha}.json` } })}\n`,
    [`resources/${sha}.json`]: '{"items":2}',
    'screencast/1.png': png,
  };
  const files = await masked(raw);
  expect(files).toEqual({ ...raw, 'screencast/1.png': png.toString('latin1') });
});

it('EV-11 EV-9 leaves out what it cannot read: broken lines, and files that are neither text nor a picture', async () => {
  const files = await masked({
    'test.trace': `${lines({ type: 'log' })}\n{"type":`,
    'resources/a.bin': Buffer.from([0, 1, 2, 255]),
    'resources/b.txt': Buffer.from([0x61, 0xff]),
  });
  expect(files).toEqual({ 'test.trace': '{"type":"log"}\n' });
});

it('HN-5 a copy can name other places than the trace that it is of', async () => {
  const folder = tempDir();
  const [from, to] = [path.join(folder, 'a.zip'), path.join(folder, 'b.zip')];
  writeZip(from, {
    'test.trace': lines({ stack: '/home/me/shop/a.spec.ts' }),
    'src/a.ts': '// /home/me/shop',
  });
  const there = (text: string) => text.replaceAll('/home/me', '/copy');
  await copyTrace(from, to, { lines: there, text: there });
  expect(Object.values(await filesOf(to)).join('')).not.toContain('/home/me');
});
