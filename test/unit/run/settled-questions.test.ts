import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Escalation } from '../../../src/model/escalation.js';
import type { Verdict } from '../../../src/model/verdict.js';
import { closeSettledQuestions } from '../../../src/run/settled-questions.js';
import { openContentStore, storeChange } from '../../../src/workspace/change.js';
import { aReport, aReportTest } from '../../rig/a-report.js';
import { anEscalation } from '../../rig/builders.js';
import { writeStoredRun } from '../../rig/events-of-report.js';
import { gitRepository } from '../../rig/git-repository.js';

const runIdOf = (n: number) => `20260101-000000-000${n}`;

/** A project in which a run asked about the tests a and b, with a patch of app.ts. */
async function asked() {
  const { dir, write } = gitRepository();
  write({ 'app.ts': 'broken\n' });
  const run = (n: number, verdicts: Record<string, Verdict>) =>
    writeStoredRun(
      dir,
      aReport({
        causes: [],
        runId: runIdOf(n),
        tests: Object.entries(verdicts).map(([id, verdict]) => aReportTest({ id, verdict })),
      }),
    );
  const runDir = run(1, { a: 'escalated', b: 'escalated' });
  const contents = openContentStore(runDir);
  const state = async (text: string) =>
    ({ kind: 'file', hash: await contents.put(Buffer.from(text)), mode: 0o644 }) as const;
  const edit = { path: 'app.ts', before: await state('broken\n'), after: await state('mended\n') };
  await storeChange(runDir, { id: '1', edits: [edit], folders: [] });
  const offer = {
    side: 'app',
    proof: ['green'],
    agent: 'debugger',
    change: '1',
    files: [],
    patch: '1.patch',
  } as const;
  const question: Escalation = anEscalation({
    runId: runIdOf(1),
    tests: ['a', 'b'].map((id) => ({ id, name: id })),
    offers: [offer],
  });
  const close = async () => {
    const closed: string[] = [];
    const store = {
      listEscalations: async () => [question],
      closeEscalation: async (_: string, why: string) => void closed.push(why),
    };
    await closeSettledQuestions(store, dir);
    return closed;
  };
  return { run, close, edit: (text: string) => writeFileSync(path.join(dir, 'app.ts'), text) };
}

it('ME-5 a question stays open while its code is unchanged and its tests are not green', async () => {
  const { run, close } = await asked();
  expect(await close()).toEqual([]);
  run(2, { a: 'passed', b: 'failed' });
  run(3, { other: 'passed' });
  expect(await close()).toEqual([]);
});

it('ME-5 a question closes once a later run saw its tests green or healed', async () => {
  const { run, close } = await asked();
  run(2, { a: 'failed', b: 'failed' });
  run(3, { a: 'passed', b: 'healed' });
  expect(await close()).toEqual([`its tests have been green since run ${runIdOf(3)}`]);
});

it('ME-5 a question stays open if the newest run of its tests was red', async () => {
  const { run, close } = await asked();
  run(2, { a: 'passed', b: 'passed' });
  run(3, { a: 'failed', b: 'passed' });
  expect(await close()).toEqual([]);
});

it('ME-5 a question closes if none of its patches applies to the code any more', async () => {
  const { close, edit } = await asked();
  edit('written anew\n');
  expect(await close()).toEqual(['app.ts has changed since the question was asked']);
});
