import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { parseEvent } from '../../../src/event.js';
import { readRunState, appendEvent, eventsFile } from '../../../src/run/event-log.js';
import { anAttempt } from '../../rig/builders.js';
import { aCauseRecord } from '../../rig/shown-run.js';
import { tempDir } from '../../rig/temp-dir.js';

const disk = vi.hoisted(() => ({ isFull: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const writeSync = (file: number, text: string) => {
    if (disk.isFull) throw new Error('ENOSPC: no space left on device, write');
    return fs.writeSync(file, text);
  };
  return { ...fs, writeSync };
});

const line = (event: object) => JSON.stringify({ time: 1, ...event });
const judged = { type: 'attempt.judged', causeId: 'c1', attempt: anAttempt() };

it.each([
  ['half a line', '{"type":"agent.act'],
  ['no time', '{"type":"cause.started","causeId":"c1"}'],
  ['an invalid attempt', line({ ...judged, attempt: null })],
  [
    'a cause whose id is a text',
    line({ type: 'cause.found', cause: aCauseRecord({ id: 'c1\n/approve @all' }) }),
  ],
  [
    'a question with such an id',
    line({ type: 'agent.waiting_for_input', causeId: 'c1', question: '', escalationId: '`x`' }),
  ],
  ['a cause without tests', line({ type: 'cause.found', cause: { ...aCauseRecord(), tests: undefined } })],
])('EV-12 %s is not an event', (_, text) => expect(parseEvent(text)).toBeNull());

it.each([
  ['a cause', { type: 'cause.found', cause: aCauseRecord() }],
  ['an event of a newer self-heal', { type: 'cause.divined' }],
])('EV-12 %s is an event', (_, event) => expect(parseEvent(line(event))).toMatchObject(event));

it('EV-12 reads the events before and after a line that a kill cut off', async () => {
  const dir = path.join(tempDir(), '20261121-071500-000a');
  mkdirSync(dir);
  expect(await readRunState(dir)).toMatchObject({ runId: '20261121-071500-000a', startedAt: null });
  const text = `${line({ type: 'run.warning', message: 'a' })}\n{"ti\n${line({ type: 'run.warning', message: 'b' })}`;
  writeFileSync(path.join(dir, eventsFile), text);
  expect((await readRunState(dir)).warnings).toEqual(['a', 'b']);
});

it('EV-12 HN-8 appends an event after the incomplete line of a killed run', async () => {
  const dir = tempDir();
  writeFileSync(path.join(dir, eventsFile), `${line({ type: 'run.warning', message: 'a' })}\n{"time":2,"ty`);
  appendEvent(dir, { type: 'run.undone', restored: ['a'], leftAlone: [] });
  expect(await readRunState(dir)).toMatchObject({ warnings: ['a', expect.any(String)], undone: true });
});
