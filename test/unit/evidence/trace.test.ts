import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanRequest } from '../../../src/evidence/bounded-text.js';
import { EvidenceNotes } from '../../../src/evidence/bounded-text.js';
import { createTraceCommand } from '../../../src/evidence/evidence-files.js';
import { copyComparisonPictures, extractPageSnapshot } from '../../../src/evidence/page-sources.js';
import { type DomElement, composePage } from '../../../src/evidence/trace/dom.js';
import { parseTraceRequest } from '../../../src/evidence/trace/har-request.js';
import { copyMaskedTrace, copyTrace } from '../../../src/evidence/trace/masked-trace.js';
import { renderPageHtml } from '../../../src/evidence/trace/write-trace-files.js';
import { createRedactorForValues } from '../../../src/secrets/redactor.js';
import { tempDir } from '../../rig/temp-dir.js';
import { readZip } from '../../rig/zip-files.js';
import { aRequest } from './rig/failures.js';
import { writeZip } from './rig/write-zip.js';

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1');

/** Writes a trace, masks it and returns the copy's files as text. */
async function masked(files: Record<string, string | Buffer>, known: Record<string, string> = {}) {
  const folder = tempDir();
  const [from, to] = [path.join(folder, 'raw.zip'), path.join(folder, 'trace.zip')];
  writeZip(from, files);
  const values = Object.entries(known).map(([name, value]) => ({ name, value }));
  await copyMaskedTrace(from, to, createRedactorForValues(values));
  return filesOf(to);
}

async function filesOf(zip: string): Promise<Record<string, string>> {
  const files = Object.entries(await readZip(zip));
  return Object.fromEntries(files.map(([name, content]) => [name, content.toString('latin1')]));
}

const lines = (...events: unknown[]) => events.map((event) => JSON.stringify(event)).join('\n');

it('EV-9 masks trace fields by their names, and known values anywhere', async () => {
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

it('EV-4 a refused WebSocket handshake has the status of the response, like any other request', () => {
  const request = parseTraceRequest({
    startedDateTime: '2026-11-29T07:05:23.302Z',
    request: { method: 'GET', url: 'ws://127.0.0.1:3000/live' },
    response: {
      status: -1,
      _failureText: 'Error during WebSocket handshake: Unexpected response code: 403',
    },
    _resourceType: 'websocket',
  });
  expect(request).toMatchObject({ status: 403, failure: null });
});

it('EV-13 the command that opens a trace is one that Playwright has', () => {
  const cli = createRequire(import.meta.url).resolve('@playwright/test/cli');
  const [, , name = ''] = createTraceCommand('failures/1').split(' ');
  const help = execFileSync(process.execPath, [cli, name, '--help'], { encoding: 'utf8' });
  expect(help).toContain(`playwright ${name} [options] [trace]`);
});

it('EV-13 keeps the references within a trace: ids, file names, pictures and other text', async () => {
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

it('EV-11 EV-9 leaves out broken lines, and files that are neither text nor a picture', async () => {
  const files = await masked({
    'test.trace': `${lines({ type: 'log' })}\n{"type":`,
    'resources/a.bin': Buffer.from([0, 1, 2, 255]),
    'resources/b.txt': Buffer.from([0x61, 0xff]),
  });
  expect(files).toEqual({ 'test.trace': '{"type":"log"}\n' });
});

it('HN-5 a copy can use other paths than the original trace', async () => {
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

const element = (
  tag: string,
  attributes: Record<string, string> = {},
  ...children: DomElement['children']
) => ({
  tag,
  attributes,
  children,
});

it('EV-13 shows a page with one element per line, typed text and shadow roots', () => {
  const root = element(
    'body',
    {},
    element('input', { value: 'old', __playwright_value_: 'new', __playwright_target__: 'x' }),
    element('input', { type: 'checkbox', __playwright_checked_: 'true' }),
    element(
      'x-basket',
      {},
      element('template', { __playwright_shadow_root_: 'open' }, element('p', {}, ' 1 <  2 ')),
    ),
  );
  expect(renderPageHtml(root, 1_000).split('\n')).toEqual([
    '<body>',
    ' <input value="new">',
    ' <input type="checkbox" checked>',
    ' <x-basket>',
    '  <shadow-root>',
    '   <p>1 &lt; 2</p>',
    '  </shadow-root>',
    ' </x-basket>',
    '</body>',
  ]);
});

it.each<[what: string, field: DomElement]>([
  ['type', element('input', { type: 'password', __playwright_value_: '4711' })],
  ['name', element('textarea', { name: 'apiKey', __playwright_value_: '4711' })],
  ['autocomplete', element('input', { autocomplete: 'one-time-code', __playwright_value_: '4711' })],
  ['card', element('input', { autocomplete: 'cc-csc', value: '4711' })],
  ['placeholder', element('input', { placeholder: 'Security code', __playwright_value_: '4711' })],
  ['hidden name', element('input', { type: 'hidden', name: 'csrf_test_name', value: '4711' })],
  ['label', element('label', {}, 'API key ', element('input', { id: 'a', __playwright_value_: '4711' }))],
])('EV-9 masks text typed into a field whose %s marks it as secret', (_, field) => {
  const zip = element('input', { name: 'zip-code', __playwright_value_: '80331' });
  const frame = { frameId: 'f', pageId: 'p', url: 'http://a.test', isMainFrame: true };
  const typed = new Set<string>();
  const page = composePage([{ ...frame, root: element('body', {}, field, zip) }], typed);
  const html = page ? renderPageHtml(page.root, 1_000) : '';
  expect(html).toContain('80331');
  expect(html).not.toContain('4711');
  expect([...typed]).toEqual(['4711']);
});

it('EV-9 masks a short code in its field and where it was typed, a long one everywhere', async () => {
  const code = { autocomplete: 'one-time-code', __playwright_value_: '7' };
  const files = await masked({
    'test.trace': lines(
      {
        type: 'before',
        title: 'Fill "7"',
        params: { selector: 'internal:label="Security code"i', value: '7' },
      },
      { type: 'before', title: 'Type "493021" at 7', params: { text: '493021' } },
      { type: 'log', message: '  fill("7") of 7' },
    ),
    '0-trace.trace': lines(
      { snapshot: { html: ['INPUT', code] } },
      { snapshot: { html: ['INPUT', { id: 'otp', __playwright_value_: '493021' }] } },
    ),
    'resources/1.json': '{"items":7,"sent":"493021"}',
  });
  const all = Object.values(files).join('\n');
  expect(all).not.toMatch(/493021|"7\\?"/);
  for (const text of ['at 7', 'of 7', '"items":7']) expect(all).toContain(text);
});

it('EV-11 shortens a page that is too long, and omits picture data', () => {
  const picture = element('img', { src: `data:image/png;base64,${'A'.repeat(5_000)}` });
  expect(renderPageHtml(picture, 1_000)).toMatch(/^<img src="… \d+ characters">$/);
  const long = element('p', {}, ...Array.from({ length: 100 }, () => element('b', {}, 'word')));
  const text = renderPageHtml(long, 200);
  expect(text.length).toBeLessThan(260);
  expect(text).toMatch(/was cut -->$/);
});

it('EV-2 keeps the expected, actual and difference pictures of a failed comparison', async () => {
  const [from, folder] = [tempDir(), tempDir()];
  const attachments = ['cart-expected.png', 'cart-actual.png', 'cart-diff.png', 'other.png'].map((name) => {
    const file = path.join(from, name);
    writeFileSync(file, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]));
    return { name, contentType: 'image/png', path: file };
  });
  await copyComparisonPictures(attachments, folder);
  expect(readdirSync(folder).toSorted()).toEqual(['actual.png', 'difference.png', 'expected.png']);
  const none = tempDir();
  await copyComparisonPictures([{ name: 'trace', contentType: 'application/zip', path: '/nowhere' }], none);
  expect(existsSync(path.join(none, 'expected.png'))).toBe(false);
});

const instructions = `# Instructions

- Following Playwright test failed.
- Explain why, be concise, respect Playwright best practices.
- Provide a snippet of code with the fix, if possible.

# Test info

- Name: a.spec.ts >> pays
`;
const source = '\n# Test source\n\n```ts\n  1 | # Page snapshot\n```\n';

it.each([
  [
    'of Playwright 1.53 to 1.58',
    '# Page snapshot\n\n```yaml\n- button "Pay" [ref=e2]\n```',
    '- button "Pay"',
  ],
  [
    'of Playwright 1.59 and later',
    `${instructions}\n# Error details\n\n\`\`\`\nError: x\n\`\`\`\n\n# Page snapshot\n\n\`\`\`yaml\n- main:\n  - generic: a\n\`\`\`\n${source}`,
    '- main:\n  - text: a',
  ],
  [
    'in which a secret was typed',
    '# Page snapshot\n\n```yaml\n- textbox "Security code" [active] [ref=e2]: "7"\n- textbox "City": "7"\n```',
    '- textbox "Security code": "[masked: value]"\n- textbox "City": "7"',
  ],
  [
    'of Playwright 1.59 and later with an element that a matcher examined',
    `${instructions}\n# Error details\n\n\`\`\`\nError: x\n\`\`\`\n\n\`\`\`yaml\n- status: Refused\n\`\`\`\n${source}`,
    null,
  ],
  ['without a snapshot', `${instructions}\n# Error details\n\n\`\`\`\nError: x\n\`\`\`\n${source}`, null],
])('EV-9 EV-10 extracts only the snapshot of the page from an error-context %s', (_, markdown, expected) => {
  expect(extractPageSnapshot(markdown)).toBe(expected);
});

const secret = 'Hunter2-Planted.x9';

/** Cleans the headers with a redactor that knows these values. */
function headersOf(headers: Record<string, string>, known: Record<string, string> = {}) {
  const redactor = createRedactorForValues(Object.entries(known).map(([name, value]) => ({ name, value })));
  const notes = new EvidenceNotes((text) => redactor.clean(text));
  const clean = (requestHeaders: Record<string, string>) =>
    cleanRequest(aRequest({ requestHeaders }), notes).requestHeaders;
  return { headers: clean(headers), redactor };
}

describe('the headers of a request', () => {
  it.each(['Authorization', 'X-Api-Key', 'apikey'])('EV-9 show only a mask as the value of %s', (name) => {
    for (const value of [secret, 'short', `sid=${secret}; theme=dark`])
      expect(headersOf({ [name]: value }).headers[name]).toMatch(/^\[masked: [^\]]+\]$/);
  });

  it('EV-9 EV-4 cookies keep names and attributes, but no value, even one that looks harmless', () => {
    const value = `sid=${secret}; Domain=localhost; Path=/; HttpOnly\ntheme=dark; SameSite=Lax`;
    const { headers } = headersOf({ 'set-cookie': value, cookie: `a=1; ${secret}` });
    expect(headers['set-cookie']).toMatch(
      /^sid=\[masked: [^\]]+\]; Domain=localhost; Path=\/; HttpOnly\ntheme=\[masked: [^\]]+\]; SameSite=Lax$/,
    );
    expect(headers['cookie']).toMatch(/^a=\[masked: [^\]]+\]; \[masked: [^\]]+\]$/);
  });
});
