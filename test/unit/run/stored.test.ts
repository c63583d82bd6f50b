import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { listFailures } from '../../../src/clients/inspect/find-failure.js';
import { renderFailure, renderFailures } from '../../../src/clients/inspect/render-inspection.js';
import { loadRun } from '../../../src/outputs/html/load-run.js';
import { renderPage } from '../../../src/outputs/html/page.js';
import { renderMarkdown } from '../../../src/outputs/markdown.js';
import { choosePalette } from '../../../src/outputs/streams.js';
import { renderSummary } from '../../../src/outputs/summary.js';
import { readRunState } from '../../../src/run/event-log.js';
import { readFailureRecords, writeFailureRecord } from '../../../src/run/failure-record.js';
import { readRun } from '../../../src/run/find-run.js';
import { createWarningStore } from '../../../src/store/warning-store.js';
import { readKeptChanges } from '../../../src/run/undo.js';
import type { Store } from '../../../src/store/store.js';
import { aDiagnosed, anAttempt, anError, anEvidence } from '../../rig/builders.js';
import { runId, storedRun } from '../../rig/stored-run.js';
import { tempDir } from '../../rig/temp-dir.js';

/** Every value in a document, as the path that leads to it. */
function pathsIn(value: unknown, at: readonly string[] = []): string[][] {
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [[...at], ...below.flatMap(([name, one]) => pathsIn(one, [...at, name]))];
}

function withValue(value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown {
  if (name === undefined) return to;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = withValue(copy[name], rest, to);
  return copy;
}

/** What a hostile project may put in place of a value. */
const odd = [null, 0, -1, 1e300, '', '../../x', 'x'.repeat(10), [], {}, [null], true];

/** Does what report, inspect and undo do with a run, up to the first write. */
async function readAll(project: string): Promise<void> {
  const run = await readRun(project, runId);
  const state = await readRunState(run.dir);
  readKeptChanges(run.dir, state);
  if (run.report) {
    const location = { dir: run.dir, displayDir: 'runs/x' };
    renderPage(await loadRun(run.report, state, location), '');
    renderMarkdown(run.report, { folder: 'runs/x', maxBytes: 100_000 });
    renderSummary(run.report, { columns: 100, paint: choosePalette({ NO_COLOR: '1' }) });
  }
  const all = listFailures(run);
  renderFailures(run, all);
  for (const one of all) renderFailure(one, []);
}

it('HN-10 no value of a stored event or failure makes a command that reads it throw', async () => {
  const project = tempDir();
  await storedRun(project);
  const dir = path.join(project, '.self-heal/runs', runId);
  let tried = 0;
  for (const file of ['events.ndjson', 'failures/1/failure.json']) {
    const whole = readFileSync(path.join(dir, file), 'utf8');
    const lines = whole.split('\n').filter((line) => line !== '');
    for (const [at, line] of lines.entries()) {
      const value: unknown = JSON.parse(line);
      for (const [n, place] of pathsIn(value).entries()) {
        const to = odd[(n + at) % odd.length];
        const crafted = lines.with(at, JSON.stringify(withValue(value, place, to)));
        writeFileSync(path.join(dir, file), crafted.join('\n'));
        await expect(
          readAll(project),
          `${file}:${at} ${place.join('.')} = ${JSON.stringify(to)}`,
        ).resolves.toBeUndefined();
        tried += 1;
      }
    }
    writeFileSync(path.join(dir, file), whole);
  }
  expect(tried).toBeGreaterThan(500);
});

it('CL-9 EV-1 stores the errors of the second run with paths in the project, and reads them back', async () => {
  const root = tempDir();
  const runDir = path.join(root, '.self-heal', 'runs', 'r');
  const folder = path.join(runDir, 'failures', '1');
  mkdirSync(folder, { recursive: true });
  const location = { file: path.join(root, 'tests', 'cart.spec.ts'), line: 3, column: 5 };
  const otherRun = { run: 'first', errors: [{ ...anError('Error: another'), location }] } as const;
  const evidence = anEvidence({ rootDir: root, otherRun });
  await writeFailureRecord(folder, aDiagnosed({ n: 1, evidence }));
  expect(readFileSync(path.join(folder, 'failure.json'), 'utf8')).not.toContain(root);
  const { failures, unreadable } = await readFailureRecords(runDir);
  expect(unreadable).toEqual([]);
  expect(failures[0]?.evidence.otherRun).toEqual(otherRun);
});

it('ME-9 warns about a failing store once per kind of access, and continues', async () => {
  const full = () => Promise.reject(new Error('database or disk is full'));
  const store = new Proxy({} as Store, { get: () => full });
  const warnings: string[] = [];
  const memory = createWarningStore(store, {
    mask: (value) => value,
    warn: (message) => void warnings.push(message),
  });
  await memory.finishAttempt('id', anAttempt());
  await memory.finishAttempt('id2', anAttempt());
  expect((await memory.recordFailure('s', 'run1')).tries).toEqual({ count: 0, failedFixes: 0 });
  expect(warnings).toEqual([
    'The store failed while saving an attempt: database or disk is full. Healing continues without it.',
    'The store failed while reading the history: database or disk is full. Healing continues without it.',
  ]);
});
