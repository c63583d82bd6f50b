import { expect, it } from 'vitest';
import { combined } from '../../../src/run/undo.js';
import type { FileState } from '../../../src/workspace/file-state.js';

const state = (hash: string): FileState => ({ kind: 'file', hash, mode: 0o644 });

it('RP-4 the patch of a run takes a file from before its first change to after its last', () => {
  const change = (id: string, path: string, before: FileState | null, after: FileState | null) => ({
    id,
    edits: [{ path, before, after }],
    folders: [],
  });
  const all = combined([
    change('1', 'a.ts', state('1'), state('2')),
    change('2', 'b.ts', null, state('b')),
    change('3', 'a.ts', state('2'), state('3')),
  ]);
  expect(all.edits).toEqual([
    { path: 'a.ts', before: state('1'), after: state('3') },
    { path: 'b.ts', before: null, after: state('b') },
  ]);
});
