import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Event, EventOf } from '../../src/event.js';
import type { CauseRecord } from '../../src/model/cause.js';
import { moveRunIntoProject, createRunFolder } from '../../src/run/run-folder.js';
import { aTest } from './builders.js';

/** The folder of a run, written as if by a run in another process. */
export interface ShownRun {
  readonly runId: string;
  readonly dir: string;
  /** Appends events. */
  tell(...events: readonly (Event & { time?: number })[]): Promise<void>;
  /** Appends text as it is. */
  append(text: string): Promise<void>;
}

/** Creates a run, which becomes the newest. */
export async function shownRun(projectRoot: string, runId: string): Promise<ShownRun> {
  await mkdir(projectRoot, { recursive: true });
  const folder = await createRunFolder(projectRoot, runId);
  if (!folder.ok) throw new Error(folder.error.message);
  await moveRunIntoProject(folder.value);
  const { finalDir: dir } = folder.value;
  const file = path.join(dir, 'events.ndjson');
  const append = (text: string) => appendFile(file, text);
  return {
    runId,
    dir,
    append,
    tell: (...events) =>
      append(events.map((event) => `${JSON.stringify({ time: Date.now(), ...event })}\n`).join('')),
  };
}

/** Creates a cause as described by events. */
export function aCauseRecord(over: Partial<CauseRecord> = {}): CauseRecord {
  return {
    id: 'c1',
    signature: 'shop:Error:00000001',
    category: 'runtime-error',
    alternatives: [],
    why: [],
    confidence: 0.9,
    tests: [aTest()],
    headline: 'TypeError: total is undefined',
    source: null,
    parent: null,
    warning: null,
    evidence: 'failures/1',
    ...over,
  };
}

/** The start of an agent for `c1`, as an event. */
export const agentStarted = {
  type: 'agent.started',
  causeId: 'c1',
  attempt: 1,
  agent: 'debugger',
  slashCommand: '/debugger',
  runner: 'claude',
  timeoutMs: 60_000,
  pid: 1,
  logFile: 'attempts/1.log',
} as const satisfies Omit<EventOf<'agent.started'>, 'time'>;
