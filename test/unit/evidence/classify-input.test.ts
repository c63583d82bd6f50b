import { describe, expect, it } from 'vitest';
import {
  type ClassifyFormat,
  classifyFormatOf,
  readClassifyInput,
} from '../../../src/evidence/classify-input.js';

const read = (text: string, format: ClassifyFormat) =>
  readClassifyInput(text, { format, rootDir: '/project' });

function readOne(text: string, format: ClassifyFormat) {
  const result = read(text, format);
  const [record] = result.ok ? result.value : [];
  if (!record) throw new Error('nothing was read');
  return record;
}

describe('CL-8 what classify reads', () => {
  it('CL-8 reads a record with console lines and requests as strings', () => {
    const record = {
      id: 'f1',
      error: { message: 'no', name: 'TypeError', stack: 'at a' },
      console: ['one', { type: 'warning', text: 'two' }],
      network: [
        'POST /api/orders → 500',
        { method: 'GET', url: '/a', status: 404 },
        'GET http://localhost:1/ net::ERR_FAILED',
      ],
    };
    const { id, evidence } = readOne(JSON.stringify(record), 'json');
    expect(id).toBe('f1');
    expect(evidence.errors[0]).toMatchObject({ message: 'TypeError: no', stack: 'at a' });
    expect(evidence.console.map(({ type, text }) => [type, text])).toEqual([
      ['error', 'one'],
      ['warning', 'two'],
    ]);
    expect(
      evidence.network.map(({ method, url, status, failure }) => [method, url, status, failure]),
    ).toEqual([
      ['POST', '/api/orders', 500, null],
      ['GET', '/a', 404, null],
      ['GET', 'http://localhost:1/', null, 'net::ERR_FAILED'],
    ]);
  });

  it('AG-2 reads a context.json back', () => {
    const context = {
      schemaVersion: 1,
      project: { name: 'shop', root: '/elsewhere' },
      error: { type: 'Error', message: 'no', stack: null, snippet: '> 1 | a', causes: ['Error: why'] },
      failedStep: 'Click',
      pageUrl: 'http://localhost:3000/',
      ariaSnapshot: '- main',
      console: [{ time: 1, type: 'pageerror', text: 'x', location: 'a:1:2', stack: 's' }],
      network: [],
      serverOutput: 'out',
    };
    const { evidence } = readOne(JSON.stringify(context), 'json');
    expect(evidence).toMatchObject({
      errors: [{ message: 'no', snippet: '> 1 | a', causes: ['Error: why'] }],
      failedStep: 'Click',
      pageUrl: 'http://localhost:3000/',
      ariaSnapshot: '- main',
      console: context.console,
      serverOutput: 'out',
      rootDir: '/elsewhere',
    });
  });

  it.each<[string, string, ClassifyFormat, RegExp]>([
    ['a line that is not JSON', '{"error":"a"}\n\n{oops', 'jsonl', /^line 3 /],
    ['a line without an error', '{"error":"a"}\n{"message":"b"}', 'jsonl', /^line 2 /],
    ['a document of another shape', '[1]', 'json', /^the input /],
  ])('CL-8 says where it stopped at %s', (_, text, format, message) => {
    const result = read(text, format);
    expect(!result.ok && result.error).toMatchObject({
      kind: 'input-unreadable',
      message: expect.stringMatching(message),
    });
    expect(!result.ok && result.error.detail).toBeTruthy();
  });

  it.each([
    ['{"error":"a"}', 'json'],
    [' \n{"error":"a"}\n', 'json'],
    ['{ not: json }', 'text'],
    ['Error: no', 'text'],
    ['["a"]', 'text'],
  ])('CL-8 recognizes %j as %s', (text, format) => {
    expect(classifyFormatOf(text)).toBe(format);
  });
});
