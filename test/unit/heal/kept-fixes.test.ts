import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { keptFixes } from '../../../src/heal/resumed.js';
import { eventsFile, readRunState } from '../../../src/run/event-log.js';
import { storeChange } from '../../../src/workspace/change.js';
import { anAttempt, anEnd } from '../../rig/builders.js';
import { aCauseSummary } from '../../rig/shown-run.js';
import { tempDir } from '../../rig/temp-dir.js';

it('ME-8 keeps green fixes that are not judged yet, except those of the built-in fixer and those without a stored change', async () => {
  const runDir = path.join(tempDir(), '.self-heal', 'runs', 'r1');
  mkdirSync(runDir, { recursive: true });
  const change = { id: '1', edits: [], folders: [] };
  await storeChange(runDir, change);
  const green = (causeId: string, agent: string, id: string | null) => ({
    type: 'attempt.held',
    causeId,
    attempt: 1,
    agent,
    change: id,
    error: null,
  });
  const judged = (causeId: string, kind: 'interrupted' | 'still-failing') => ({
    type: 'attempt.judged',
    causeId,
    attempt: anAttempt({ end: anEnd(kind) }),
  });
  const events = [
    ...['killed', 'interrupted', 'failed', 'free', 'lost', 'unchanged'].map((id) => ({
      type: 'cause.found',
      cause: aCauseSummary({ id, signature: `shop:Error:${id}` }),
    })),
    ...['killed', 'interrupted', 'failed'].map((id) => green(id, 'debugger', '1')),
    green('free', 'built-in', '1'),
    green('lost', 'debugger', '2'),
    green('unchanged', 'debugger', null),
    judged('interrupted', 'interrupted'),
    judged('failed', 'still-failing'),
  ];
  const lines = events.map((event) => `${JSON.stringify({ ...event, time: 1 })}\n`);
  writeFileSync(path.join(runDir, eventsFile), lines.join(''));
  const kept = keptFixes(await readRunState(runDir), runDir);
  expect([...kept.keys()]).toEqual(['shop:Error:killed', 'shop:Error:interrupted']);
  expect(kept.get('shop:Error:killed')).toMatchObject({ agent: 'debugger', change, runDir });
});
