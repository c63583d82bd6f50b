import { expect, it } from 'vitest';
import type { Event } from '../../../src/event.js';
import { runOf } from '../../../src/run/run-state.js';
import { combined, keptChanges } from '../../../src/run/undo.js';
import type { FileState } from '../../../src/workspace/file-state.js';
import { aCauseSummary } from '../../rig/shown-run.js';
import { tempDir } from '../../rig/temp-dir.js';

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

it('HN-8 a run that held a fix and ended, but whose judgement cannot be read, is not taken for one that changed nothing', () => {
  const spent = { durationMs: 1, agentRuns: 1, agentRunsAvoided: 0, costUsd: null, commit: null };
  const held: Event[] = [
    { type: 'cause.found', cause: aCauseSummary() },
    { type: 'attempt.held', causeId: 'c1', attempt: 1, agent: 'debugger', change: '1', error: null },
  ];
  const kept = (...events: Event[]) =>
    keptChanges(tempDir(), runOf(events.map((event) => ({ time: 1, ...event }))));
  expect(kept(...held)).toEqual([]);
  expect(kept(...held, { type: 'run.ended', outcome: 'green', exitCode: 0, ...spent })).toBeNull();
});
