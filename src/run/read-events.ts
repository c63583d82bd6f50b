import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Event, StampedEvent } from '../event.js';
import { runOf, type RunState } from './reduce.js';
import { eventsFile } from './write-events.js';

const texts = z.array(z.string());
const test = z.looseObject({
  id: z.string(),
  titlePath: texts,
  location: z.looseObject({ file: z.string(), line: z.number() }),
  project: z.string(),
});
const cause = z.looseObject({
  id: z.string(),
  signature: z.string(),
  category: z.string(),
  alternatives: texts,
  why: z.array(z.looseObject({ source: z.string(), evidence: z.string() })),
  confidence: z.number(),
  tests: z.array(test),
  headline: z.string(),
});
const attempt = z.looseObject({
  n: z.number(),
  judged: z.string(),
  takenBack: z.boolean(),
  change: z.string().nullable(),
  files: z.array(z.looseObject({ path: z.string() })),
  proof: texts,
  durationMs: z.number(),
});
const asked = z.looseObject({ filters: texts, passThrough: texts, options: z.looseObject({}) });

/** What is looked into more deeply than by its name: a run's folder may have been in anybody's hands. */
const shapes: { readonly [T in Event['type']]?: z.ZodType } = {
  'run.started': z.looseObject({
    runId: z.string(),
    project: z.string(),
    dryRun: z.boolean(),
    request: asked.optional(),
    resumedFrom: z.string().optional(),
  }),
  'cause.found': z.looseObject({ cause }),
  'cause.flaky': z.looseObject({ tests: z.array(test) }),
  'tests.quarantined': z.looseObject({ tests: z.array(test) }),
  'attempt.rejected': z.looseObject({ violations: z.array(z.looseObject({})) }),
  'attempt.judged': z.looseObject({ causeId: z.string(), attempt }),
  'run.undone': z.looseObject({ restored: texts, leftAlone: texts }),
  'run.warning': z.looseObject({ message: z.string() }),
  'run.ended': z.looseObject({ outcome: z.string(), exitCode: z.number(), agentRuns: z.number() }),
};

const stamped = z.looseObject({ time: z.number(), type: z.string() });

/** The event that a line of `events.ndjson` holds; null for what a killed run left of its last line, and for what no event looks like. */
export function eventIn(line: string): StampedEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const { success, data } = stamped.safeParse(value);
  if (!success) return null;
  const shape = Object.hasOwn(shapes, data.type) ? shapes[data.type as Event['type']] : undefined;
  return !shape || shape.safeParse(value).success ? (value as StampedEvent) : null;
}

/** The events of the run in this folder; none where there are none. */
export async function readEvents(dir: string): Promise<StampedEvent[]> {
  const text = await readFile(path.join(dir, eventsFile), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => eventIn(line) ?? []);
}

/** The run in this folder, as its events tell of it. */
export async function readRunState(dir: string): Promise<RunState> {
  return runOf(await readEvents(dir), path.basename(dir));
}
