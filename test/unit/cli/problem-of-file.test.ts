import { expect, it } from 'vitest';
import { problemOfFile } from '../../../src/cli/problem-of-file.js';

const of = (code: string, file?: string) =>
  problemOfFile(Object.assign(new Error(code), { code, ...(file === undefined ? {} : { path: file }) }));

it.each(['EACCES', 'EPERM', 'ENOENT'])(
  'CL-5 %s is a problem of the user’s in .self-heal, as if its owner changed during the run, and a bug elsewhere',
  (code) => {
    expect(of(code, '/shop/.self-heal/runs/1/events.ndjson')).toMatchObject({ kind: 'folder-not-writable' });
    expect(of(code, '/shop/self-heal/events.ndjson')).toBeNull();
    expect(of(code)).toBeNull();
  },
);

it('CL-5 a full disk is a problem of the user’s for every file', () => {
  expect(of('ENOSPC')).toMatchObject({ kind: 'folder-not-writable', message: 'The disk is full' });
});
