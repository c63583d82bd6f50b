import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readFailureRecords, writeFailureRecord } from '../../../src/run/failure-record.js';
import { aDiagnosed, anError, anEvidence } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

it('CL-9 EV-1 stores the errors of the other run with places from the project, and reads them back', async () => {
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
